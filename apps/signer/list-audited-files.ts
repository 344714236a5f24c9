import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "../..");
const packages = new Map(
	["packages/protocol", "packages/keys"].map((folder) => {
		const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
		return [manifest.name as string, { folder, exports: manifest.exports as Record<string, string> }];
	}),
);

export type AuditedFile = { path: string; lines: number };

/**
 * Returns all files of ours that the remote signer can run, by path. Imports are followed from its main file, also
 * dynamic ones and processes that it starts. Of a package's index, only the imported names are followed.
 */
export function listAuditedFiles(): AuditedFile[] {
	const seen = new Map<string, string>();
	const visit = (path: string) => {
		if (seen.has(path)) return;
		const text = readFileSync(join(root, path), "utf8");
		seen.set(path, text);
		// Only the names that are imported from an index are followed.
		if (!path.endsWith("/index.ts")) for (const next of importsOf(path, text)) visit(next);
	};
	visit("apps/signer/src/main.ts");
	return [...seen]
		.map(([path, text]) => ({ path, lines: text.split("\n").length - 1 }))
		.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Matches `import … from "x"`, `export … from "x"`, `import("x")` and `join(import.meta.dirname, "x.ts")`. */
const statement =
	/(?:import|export)\s+(?:type\s+)?(?:(?<names>\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+)?"(?<from>[^"]+)"|import\("(?<lazy>[^"]+)"\)|join\(import\.meta\.dirname, "(?<started>[^"]+\.ts)"\)/g;

function importsOf(path: string, text: string): string[] {
	return [...text.matchAll(statement)].flatMap(({ groups = {} }) => {
		const { names = "", from, lazy, started } = groups;
		const target = from ?? lazy ?? started ?? "";
		if (started !== undefined || target.startsWith(".")) return [join(dirname(path), target)];
		const [scope, name, ...rest] = target.split("/");
		if (scope !== "@geoswap") return [];
		const found = packages.get(`${scope}/${name}`);
		const exported = found?.exports[[".", ...rest].join("/")];
		if (!found || exported === undefined)
			throw new Error(`${path} imports ${target}, which is not the signer's`);
		const file = join(found.folder, exported);
		return rest.length === 0 ? [file, ...filesOfNames(file, namesIn(names))] : [file];
	});
}

/** Returns the files from which an index exports the names. */
function filesOfNames(index: string, names: readonly string[]): string[] {
	const text = readFileSync(join(root, index), "utf8");
	const homes = new Map(
		[...text.matchAll(/^export (?:type )?(\{[^}]*\}) from "([^"]+)"/gm)].flatMap(([, list = "", from = ""]) =>
			namesIn(list).map((name) => [name, join(dirname(index), from)] as const),
		),
	);
	return names.map((name) => {
		const home = homes.get(name);
		if (home === undefined) throw new Error(`${relative(root, index)} does not export ${name}`);
		return home;
	});
}

function namesIn(list: string): string[] {
	return list
		.replace(/[{}]/g, "")
		.split(",")
		.map((one) =>
			one
				.trim()
				.replace(/^type /, "")
				.replace(/ as .*$/, ""),
		)
		.filter((one) => one !== "");
}
