import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sourcePath } from "./plant-in.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

/** The seed at which a bug was found first, and the hash of the files that it was planted in and of the simulator. */
export type FoundBug = { seed: number; hash: string };

const file = join(import.meta.dirname, "found-bugs.json");
const simulator = "apps/server/sim";

/** Reads which bugs were found in the last search for all of them. */
export function readFoundBugs(): Record<string, FoundBug> {
	return JSON.parse(readFileSync(file, "utf8")) as Record<string, FoundBug>;
}

/** Writes at which seeds all bugs were found. */
export function recordFoundBugs(seeds: ReadonlyMap<string, number>): void {
	const found = Object.fromEntries(
		plantedBugs.map((bug) => [bug.name, { seed: seeds.get(bug.name), hash: hashOf(bug) }]),
	);
	writeFileSync(file, `${JSON.stringify(found, null, "\t")}\n`);
}

/** Returns the hash of all files that define the bug or search for it. */
export function hashOf({ edits }: PlantedBug): string {
	const files = [
		// The worlds of the treasury are others, with bugs of their own.
		...globSync("**/*.ts", { cwd: sourcePath(simulator), exclude: ["treasury/**"] }).map(
			(path) => `${simulator}/${path}`,
		),
		...edits.map((edit) => edit.file),
	];
	const hash = createHash("sha256");
	for (const path of [...new Set(files)].sort()) hash.update(path).update(codeOf(sourcePath(path)));
	return hash.digest("hex").slice(0, 16);
}

/** Returns a file without the lines that are comments, which decide nothing. */
function codeOf(path: string): string {
	return readFileSync(path, "utf8").replace(/^\s*(?:\/\/|\/\*|\*[\s/]).*\n/gm, "");
}
