#!/usr/bin/env node
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { buildProgram } from "./build-program.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs-list.ts";

const help = `Plants one bug at a time in a copy of the program and sees that the tests catch it.

Usage: planted-bugs.ts [options]

  --only <text>      only bugs whose text contains this
  --sample <n>       only this many bugs, chosen by GEOSWAP_SEED or at random
  --record           if every bug was caught, write the hash of all that decides it to planted-bugs.json
  --unless-recorded  try nothing where that file has the hash of what is here
  -h, --help         show this help

Exit status: 0 if every bug was caught, 1 if one survived or could not be planted.`;

const { values: options } = parseArgs({
	options: {
		only: { type: "string", default: "" },
		sample: { type: "string" },
		record: { type: "boolean", default: false },
		"unless-recorded": { type: "boolean", default: false },
		help: { type: "boolean", short: "h", default: false },
	},
});

const crate = dirname(import.meta.dirname);
const repository = join(crate, "../..");
const recordFile = join(import.meta.dirname, "planted-bugs.json");
const unitTests = ["open", "decide", "vault"];

/** The hash of everything that decides which bugs are caught: the program, the tests, the bugs. */
function hashOfInputs(): string {
	const hash = createHash("sha256");
	for (const file of [
		...globSync("src/*.rs", { cwd: crate }),
		...globSync("test/*.ts", { cwd: crate }),
	].sort()) {
		hash.update(`${file}\0${codeOf(readFileSync(join(crate, file), "utf8"))}\0`);
	}
	return hash.digest("hex");
}

/** Returns a file without the lines that are comments, which decide nothing. */
function codeOf(text: string): string {
	return text.replace(/^\s*(?:\/\/|\/\*|\*[\s/]).*\n/gm, "");
}

function isRecorded(): boolean {
	if (!existsSync(recordFile)) return false;
	return JSON.parse(readFileSync(recordFile, "utf8")).sha256 === hashOfInputs();
}

/** Builds the program with a bug. Throws if the text to replace is not there exactly once. */
function plant({ file, from, to }: PlantedBug, folder: string): string {
	const path = join("src", `${file}.rs`);
	const source = readFileSync(join(crate, path), "utf8");
	const count = source.split(from).length - 1;
	if (count !== 1) throw new Error(`the text to replace is in ${path} ${count} times, not once`);
	for (const name of ["src", "Cargo.toml", "Cargo.lock"]) {
		cpSync(join(crate, name), join(folder, name), { recursive: true });
	}
	// A bug may leave a name unused.
	const library = readFileSync(join(folder, "src/lib.rs"), "utf8");
	writeFileSync(join(folder, "src/lib.rs"), library.replace("#![no_std]", "#![no_std]\n#![allow(warnings)]"));
	writeFileSync(
		join(folder, path),
		source.replace(from, () => to),
	);
	const program = join(folder, "planted.so");
	buildProgram(folder, program);
	return program;
}

/** Returns the first test that fails on the program; undefined if none does. */
async function failingTest(
	program: string | undefined,
	names: readonly string[],
): Promise<string | undefined> {
	const files = names.map((name) => `programs/geo-escrow/test/${name}.test.ts`);
	const args = ["exec", "vitest", "run", "--project", "programs", "--bail", "1", "--no-color", ...files];
	// A thief that acts at random finds a bug in one of a few histories. The same seed tries the same histories.
	const seeded = { GEOSWAP_SEED: "1", GEOSWAP_HISTORIES: "60" };
	const env = { ...process.env, ...(program && { PROGRAM: program, ...seeded }) };
	try {
		await promisify(execFile)("pnpm", args, { cwd: repository, env, maxBuffer: 1 << 26 });
		return undefined;
	} catch (error) {
		const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
		const failed = /FAIL +\|?programs\|? +\S+ > (.*)/.exec(`${stdout}\n${stderr}`)?.[1];
		if (failed === undefined)
			throw new Error(`the tests did not run:\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
		return failed;
	}
}

async function tryBug(bug: PlantedBug): Promise<{ caughtBy: string } | { survived: string }> {
	const folder = mkdtempSync(join(tmpdir(), "planted-bug-"));
	try {
		const program = plant(bug, folder);
		const caughtBy = await failingTest(program, bug.by ? [bug.by] : unitTests);
		return caughtBy === undefined ? { survived: "no test failed" } : { caughtBy };
	} catch (error) {
		return { survived: (error as Error).message };
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Returns the bugs, or as many of them as a sample has. The same seed chooses the same ones. */
function sampleOf(bugs: readonly PlantedBug[]): readonly PlantedBug[] {
	if (options.sample === undefined) return bugs;
	const seed = process.env.GEOSWAP_SEED ?? randomUUID();
	const place = ({ file, from, to }: PlantedBug) =>
		createHash("sha256").update(`${seed} ${file} ${from} ${to}`).digest("hex");
	return bugs.toSorted((a, b) => place(a).localeCompare(place(b))).slice(0, Number(options.sample));
}

async function main(): Promise<number> {
	// Computed before anything runs, because files that change meanwhile were not tried.
	const sha256 = hashOfInputs();
	const bugs = sampleOf(plantedBugs.filter(({ from }) => from.includes(options.only)));
	const startedMs = performance.now();
	const say = (text: string) =>
		console.log(`[${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(3)} s] ${text}`);
	const failing = await failingTest(undefined, [...unitTests, "stolen-worker"]);
	if (failing !== undefined) throw new Error(`a test fails without a bug: ${failing}`);
	say(`no test fails without a bug; trying ${bugs.length}`);
	let survivors = 0;
	const waiting = [...bugs];
	const worker = async () => {
		for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
			const outcome = await tryBug(bug);
			const name = `${bug.file}.rs: ${bug.from.replaceAll(/\s+/g, " ").slice(0, 90)}`;
			if ("survived" in outcome) survivors += 1;
			say(
				"survived" in outcome
					? `SURVIVED  ${name}: ${outcome.survived}`
					: `caught    ${name}: ${outcome.caughtBy}`,
			);
		}
	};
	await Promise.all([worker(), worker()]);
	say(`${bugs.length - survivors} of ${bugs.length} planted bugs were caught`);
	if (survivors > 0) return 1;
	if (options.record) {
		const record = { sha256, caught: bugs.length };
		writeFileSync(recordFile, `${JSON.stringify(record, undefined, "\t")}\n`);
	}
	return 0;
}

if (options.help) console.log(help);
else if (options.record && (options.only !== "" || options.sample !== undefined)) {
	console.error("Only a run of all bugs can be recorded: leave out --only and --sample.");
	process.exitCode = 1;
} else if (options["unless-recorded"] && isRecorded()) {
	console.log("planted-bugs.json: every bug was caught in this program, by these tests");
} else {
	process.exitCode = await main().catch((error: Error) => {
		console.error(error.message);
		return 1;
	});
}
