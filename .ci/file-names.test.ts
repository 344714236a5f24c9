import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

/** The folders of code that is shipped. */
const folders = ["apps/*/src", "packages/*/src", "devnet/src", "contracts/deploy", "programs/*/deploy"];

/** Files of many small exports of one kind, none of which could give the file its name. */
const kinds = [
	"amount.ts",
	"actions.ts",
	"escrow-instructions.ts",
	"fields.ts",
	"format.ts",
	"loader.ts",
	"parts.ts",
	"program-client-core.ts",
	"units.ts",
	"vault-instructions.ts",
];

const exported =
	/^export (?:async )?(?:abstract )?(?:function\*?|const|let|class|type|interface|enum) (\w+)|^export (?:type )?\{([^}]*)\}/gm;

test("each file is named for one of its exports, which contains all words of the file's name or its last word", () => {
	const files = execFileSync("git", ["ls-files", ...folders.map((folder) => `${folder}/**/*.ts`)], {
		encoding: "utf8",
	});
	const unnamed = files
		.split("\n")
		// A file that was just deleted is still listed.
		.filter((path) => existsSync(path))
		.filter((path) => !/\.(test|d)\.ts$|\/index\.ts$/.test(path) && !kinds.includes(basename(path)))
		.filter((path) => {
			const exports = exportsOf(readFileSync(path, "utf8"));
			const name = wordsOf(basename(path, ".ts"));
			return exports.length > 0 && !exports.some((one) => isNamedFor(name, wordsOf(one)));
		});
	expect(unnamed).toEqual([]);
});

test("the rule detects a file that is not named for any of its exports", () => {
	expect(isNamedFor(wordsOf("price-cache"), wordsOf("createPriceCache"))).toBe(true);
	expect(isNamedFor(wordsOf("orders"), wordsOf("insertOrder"))).toBe(true);
	expect(isNamedFor(wordsOf("later"), wordsOf("postponed"))).toBe(false);
	expect(exportsOf("export async function readPrice() {}\nexport { a, type b as c };")).toEqual([
		"readPrice",
		"a",
		"c",
	]);
});

function exportsOf(source: string): string[] {
	return [...source.matchAll(exported)].flatMap(([, name, list]) =>
		name ? [name] : (list ?? "").split(",").map((one) => one.trim().replace(/^type |.* as /g, "")),
	);
}

/** Returns a name's words in lower case and in the singular. */
function wordsOf(name: string): string[] {
	return name
		.replace(/([a-z0-9])([A-Z])/g, "$1-$2")
		.toLowerCase()
		.split("-")
		.map((word) =>
			word
				.replace(/ies$/, "y")
				.replace(/sses$/, "ss")
				.replace(/([^s])s$/, "$1"),
		);
}

function isNamedFor(file: readonly string[], one: readonly string[]): boolean {
	return file.every((word) => one.join("-").includes(word)) || one.includes(file.at(-1) ?? "");
}
