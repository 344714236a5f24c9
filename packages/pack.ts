import { execFileSync } from "node:child_process";
import {
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { parseArgs } from "node:util";

// Builds the SDK and the command, and packs them as they are published.

const help = `Usage: node packages/pack.ts --out DIR [--repository URL] [--json]

  --out DIR          folder for the two tarballs; it is created
  --repository URL   address of the repository for the registry's pages, such as https://github.com/owner/name;
                     the default is the placeholder in the packages' package.json
  --revision NAME    commit or branch that links in the READMEs lead to; main by default
  --json             print the paths of the tarballs as a JSON document

Exit codes: 0 packed, 1 failed, 2 wrong arguments.`;

const root = join(import.meta.dirname, "..");
const folders = ["sdk", "cli"] as const;
/** The command's other dependencies are in its bundle. */
const notBundled = { sdk: [], cli: ["@napi-rs/keyring"] } as const;
const placeholder = "https://git.example/geoswap";

type Manifest = {
	repository: { url: string };
	homepage: string;
	bugs: string;
	dependencies?: Record<string, string>;
	devDependencies?: Record<string, string>;
	scripts?: Record<string, string>;
};

function readOptions() {
	try {
		return parseArgs({
			options: {
				out: { type: "string" },
				repository: { type: "string", default: placeholder },
				revision: { type: "string", default: "main" },
				json: { type: "boolean", default: false },
				help: { type: "boolean", short: "h", default: false },
			},
		}).values;
	} catch (error) {
		console.error((error as Error).message);
		return undefined;
	}
}

const options = readOptions();
if (options?.help) {
	console.log(help);
} else if (options?.out === undefined) {
	console.error(help);
	process.exitCode = 2;
} else {
	const { out, repository, revision } = options;
	mkdirSync(out, { recursive: true });
	const place = { repository: repository.replace(/(\.git)?\/*$/, ""), revision };
	const tarballs = folders.map((folder) => pack(folder, { out, ...place }));
	if (options.json) console.log(JSON.stringify({ tarballs }));
	else for (const tarball of tarballs) console.log(tarball);
}

/**
 * pnpm applies `publishConfig` and the catalog, which npm does not support. After that the other fields are changed,
 * and the package is packed again.
 */
function pack(
	folder: (typeof folders)[number],
	{ out, repository, revision }: { out: string; repository: string; revision: string },
): string {
	const source = join(import.meta.dirname, folder);
	const scratch = mkdtempSync(join(tmpdir(), `geoswap-pack-${folder}-`));
	try {
		run("pnpm", ["run", "build"], source);
		run("pnpm", ["pack", "--pack-destination", scratch], source);
		const [first] = readdirSync(scratch);
		if (!first) throw new Error(`${folder} was not packed`);
		run("tar", ["-xzf", first], scratch);
		const unpacked = join(scratch, "package");
		const file = join(unpacked, "package.json");
		const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
		writeFileSync(file, `${JSON.stringify(published(manifest, { folder, repository }), null, "\t")}\n`);
		const base = `${repository}/blob/${revision}`;
		const readme = readFileSync(join(source, "README.md"), "utf8");
		writeFileSync(join(unpacked, "README.md"), withAbsoluteLinks(readme, `${base}/packages/${folder}`));
		copyFileSync(join(root, "LICENSE"), join(unpacked, "LICENSE"));
		const name = run("npm", ["pack", "--silent", "--pack-destination", out], unpacked).trim();
		return join(out, name);
	} finally {
		rmSync(scratch, { recursive: true, force: true });
	}
}

function published(
	manifest: Manifest,
	{ folder, repository }: { folder: keyof typeof notBundled; repository: string },
) {
	const { dependencies = {}, devDependencies: _, scripts: __, ...rest } = manifest;
	const kept = Object.entries(dependencies).filter(([name]) =>
		notBundled[folder].some((one) => one === name),
	);
	const text = JSON.stringify(rest).replaceAll(placeholder, repository);
	return {
		...(JSON.parse(text) as typeof rest),
		...(kept.length > 0 && { dependencies: Object.fromEntries(kept) }),
	};
}

/** Relative links of a README are broken on the registry's page. */
function withAbsoluteLinks(markdown: string, base: string): string {
	const { origin, pathname } = new URL(base);
	return markdown.replaceAll(
		/\]\((?!https?:|#)([^)\s]+)\)/g,
		(_, target: string) => `](${origin}${posix.join(pathname, target)})`,
	);
}

function run(program: string, args: string[], cwd: string): string {
	try {
		return execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	} catch (error) {
		const { stdout, stderr } = error as { stdout: string; stderr: string };
		throw new Error(`${program} ${args.join(" ")} failed in ${cwd}:\n${stdout}${stderr}`);
	}
}
