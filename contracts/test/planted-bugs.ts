#!/usr/bin/env node
// Plants one bug at a time in a copy of the contracts and checks that the tests catch it, because a suite that passes
// regardless of the contracts would show nothing.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { forgeBinary } from "../forge.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs-list.ts";

const help = `Plants one bug at a time in a copy of the contracts and sees that the tests catch it.

Usage: planted-bugs.ts [options]

  --only <text>   only bugs whose name contains this
  --seed <n>      seed of the campaigns (default 1: the same calls every time)
  --sample <n>    only this many bugs, chosen by GEOSWAP_SEED or at random
  --keep          leave the copy in place and print where it is
  --list          print the names of the bugs and exit
  --record        if every bug was caught, write the hash of all that decides it to planted-bugs.json
  --unless-recorded
                  try nothing where that file has the hash of what is here: the same calls would catch the same bugs
  --help          print this and exit

Exit status: 0 if every bug was caught, 1 if one survived or could not be planted.`;

const { values: options } = parseArgs({
	options: {
		only: { type: "string", default: "" },
		seed: { type: "string", default: "1" },
		sample: { type: "string" },
		keep: { type: "boolean", default: false },
		list: { type: "boolean", default: false },
		record: { type: "boolean", default: false },
		"unless-recorded": { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

// An invariant's number, or the promise that has none.
const violation = /\b([IV]\d+|cap|roles|pause|batch): [\w',. -]+/;
const campaign = "FewOrdersInvariantsTest";
const failedTest = /(?<=\[FAIL[^\n]*\] )test\w+/;
/** The variable that names the artifact which the tests deploy. */
const variables = {
	GeoEscrow: "GEO_ESCROW",
	GeoVault: "GEO_VAULT",
	GeoAccount: "GEO_ACCOUNT",
	CctpRoute: "GEO_ROUTE",
};

/** The folder of `src` and `test`. */
const contracts = dirname(import.meta.dirname);

const config = `
[profile.default]
src = "src"
test = "test"
libs = ["node_modules"]
remappings = ["@openzeppelin/contracts/=node_modules/@openzeppelin/contracts/"]
solc = "${join(contracts, "solc.mjs")}"
offline = true
evm_version = "prague"
# What counts here is how soon the bugs are compiled.
optimizer = false
# The vault is too deep for the compiler's stack without the IR pipeline.
additional_compiler_profiles = [{ name = "ir", via_ir = true, optimizer = false }]
compilation_restrictions = [
	{ paths = "src/GeoVault.sol", via_ir = true },
	{ paths = "src/planted/GeoVault-*/GeoVault.sol", via_ir = true },
]
# Or the copy's path would be in the code, and with it in what the campaigns draw from.
bytecode_hash = "none"
cbor_metadata = false
fs_permissions = [{ access = "read", path = "./" }, { access = "read", path = "${resolve(contracts, "../..")}" }]

[profile.default.invariant]
runs = 4
depth = 3000
fail_on_revert = true
shrink_run_limit = 0

[profile.default.lint]
lint_on_build = false
`;

/** Replaces text that must be there exactly once, so that a bug that no longer fits its contract is noticed. */
function plant(name: string, source: string, [from, to]: PlantedBug["edits"][number]): string {
	const count = source.split(from).length - 1;
	if (count !== 1)
		throw new Error(`${name}: the text to replace is there ${count} times, not once:\n${from}`);
	return source.replace(from, () => to);
}

/** Paths that each trial copies: the contracts, and the tests that must catch the bugs. */
const copied = [
	"src",
	"test/base",
	"test/mocks",
	"test/invariant",
	"test/fuzz/Caps.t.sol",
	"test/unit/CctpRoute.t.sol",
	"test/unit/GeoAccount.t.sol",
	"test/unit/GeoVault.feeds.t.sol",
	"test/unit/Mandates.t.sol",
	"test/unit/GeoVault.topUp.t.sol",
];

const recordFile = join(import.meta.dirname, "planted-bugs.json");

/** The hash of everything that decides which bugs are caught: the copy, the bugs, the campaign, compiler, forge. */
function hashOfInputs(): string {
	const hash = createHash("sha256");
	// Lines that are comments decide nothing.
	const codeOf = (text: string) => text.replace(/^\s*(?:\/\/|\/\*|\*[\s/]).*\n/gm, "");
	const add = (path: string) =>
		hash.update(`${path}\0${codeOf(readFileSync(join(contracts, path), "utf8"))}\0`);
	for (const name of copied) {
		if (name.endsWith(".sol")) add(name);
		else
			for (const file of readdirSync(join(contracts, name), { recursive: true, encoding: "utf8" }).sort())
				if (file.endsWith(".sol")) add(join(name, file));
	}
	for (const name of ["planted-bugs.ts", "planted-bugs-list.ts"]) add(join("test", name));
	add("solc.mjs");
	for (const name of ["@openzeppelin/contracts", "@foundry-rs/forge", "solc"]) {
		const text = readFileSync(join(contracts, "node_modules", name, "package.json"), "utf8");
		hash.update(`${name} ${(JSON.parse(text) as { version: string }).version}\0`);
	}
	return hash.digest("hex");
}

function isRecorded(): boolean {
	if (!existsSync(recordFile)) return false;
	const { sha256 } = JSON.parse(readFileSync(recordFile, "utf8")) as { sha256: string };
	return sha256 === hashOfInputs();
}

function makeCopy(bugs: PlantedBug[]): string {
	const root = mkdtempSync(join(tmpdir(), "planted-bugs-"));
	writeFileSync(join(root, "foundry.toml"), config);
	symlinkSync(join(contracts, "node_modules"), join(root, "node_modules"));
	for (const name of copied) cpSync(join(contracts, name), join(root, name), { recursive: true });
	for (const bug of bugs) {
		const folder = join(root, "src/planted", bug.name);
		mkdirSync(folder, { recursive: true });
		const own = `${bug.contract}.sol`;
		const planted = new Map([[own, readFileSync(join(contracts, "src", own), "utf8")]]);
		for (const edit of bug.edits) {
			const file = edit[2] ?? own;
			const source = planted.get(file) ?? readFileSync(join(contracts, "src", file), "utf8");
			planted.set(file, plant(bug.name, source, edit));
		}
		for (const [file, source] of planted) {
			// Files without an edit stay in `src`.
			const moved = source.replaceAll(/from "\.\/([^"]+)"/g, (all, path) =>
				planted.has(path) ? all : `from "../../${path}"`,
			);
			writeFileSync(join(folder, file), moved);
		}
	}
	return root;
}

function runForge(
	root: string,
	args: string[],
	environment: Record<string, string> = {},
): Promise<{ ok: boolean; output: string }> {
	const env = { ...process.env };
	// The caller's settings are only for the caller's copy.
	for (const name of Object.keys(env)) if (name.startsWith("FOUNDRY_")) delete env[name];
	for (const [contract, variable] of Object.entries(variables))
		env[variable] = `src/${contract}.sol:${contract}`;
	Object.assign(env, environment);
	return new Promise((done) => {
		execFile(forgeBinary(), args, { cwd: root, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
			done({ ok: error === null, output: `${stdout}\n${stderr}` }),
		);
	});
}

async function tryBug(root: string, bug: PlantedBug): Promise<{ survived: string } | { caughtBy: string }> {
	const artifact = `src/planted/${bug.name}/${bug.contract}.sol:${bug.contract}`;
	const args = [
		"test",
		"--match-contract",
		bug.match ?? campaign,
		"--fuzz-seed",
		options.seed,
		"--fail-fast",
	];
	const failures = join(root, "failures", bug.name);
	const { ok, output } = await runForge(root, args, {
		[variables[bug.contract]]: artifact,
		FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: failures,
	});
	if (ok) return { survived: "no test failed" };
	const caughtBy = output.match(bug.match === undefined ? violation : failedTest)?.[0].trim();
	return caughtBy === undefined
		? { survived: `failed, but not by what it should:\n${output.slice(-2000)}` }
		: { caughtBy };
}

/** Runs `work` on all items, as many at a time as there are cores. */
async function inParallel<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
	const waiting = [...items];
	const worker = async () => {
		for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
	};
	await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** Returns the bugs, or as many of them as a sample has. The same seed chooses the same ones. */
function sampleOf(bugs: PlantedBug[]): PlantedBug[] {
	if (options.sample === undefined) return bugs;
	const seed = process.env.GEOSWAP_SEED ?? randomUUID();
	const place = ({ name }: PlantedBug) => createHash("sha256").update(`${seed} ${name}`).digest("hex");
	return bugs.toSorted((a, b) => place(a).localeCompare(place(b))).slice(0, Number(options.sample));
}

async function main(): Promise<void> {
	const bugs = sampleOf(plantedBugs.filter((bug) => bug.name.includes(options.only)));
	if (bugs.length === 0) throw new Error(`no bug is called like "${options.only}"`);
	const startedAt = Date.now();
	const say = (text: string) =>
		console.log(`[${((Date.now() - startedAt) / 1000).toFixed(0).padStart(3)} s] ${text}`);

	const root = makeCopy(bugs);
	try {
		say(`planted ${bugs.length} bugs, compiling`);
		const build = await runForge(root, ["build"]);
		if (!build.ok) throw new Error(`the copy does not compile:\n${build.output.slice(-3000)}`);
		say("compiled, trying the contracts as they are");
		const control = await runForge(root, ["test", "--fuzz-seed", options.seed], {
			FOUNDRY_INVARIANT_RUNS: "1",
		});
		if (!control.ok || !control.output.includes(" tests passed, 0 failed"))
			throw new Error(`the tests fail without a bug:\n${control.output.slice(-3000)}`);
		say("no test fails without a bug");

		const survivors: PlantedBug[] = [];
		await inParallel(bugs, async (bug) => {
			const outcome = await tryBug(root, bug);
			if ("survived" in outcome) survivors.push(bug);
			say(
				"survived" in outcome
					? `SURVIVED  ${bug.name}: ${outcome.survived}`
					: `caught    ${bug.name}: ${outcome.caughtBy}`,
			);
		});
		say(`${bugs.length - survivors.length} of ${bugs.length} planted bugs were caught`);
		if (survivors.length !== 0) process.exitCode = 1;
		else if (options.record) {
			const record = { sha256: hashOfInputs(), caught: bugs.length };
			writeFileSync(recordFile, `${JSON.stringify(record, null, "\t")}\n`);
		}
	} finally {
		if (options.keep) say(`the copy is in ${root}`);
		else rmSync(root, { recursive: true });
	}
}

if (options.help) console.log(help);
else if (options.list) console.log(plantedBugs.map((bug) => bug.name).join("\n"));
else if (options.record && (options.only !== "" || options.seed !== "1" || options.sample !== undefined)) {
	console.error("only a run of all bugs with the usual seed can be recorded");
	process.exitCode = 1;
} else if (options["unless-recorded"] && isRecorded()) {
	console.log("planted-bugs.json: every bug was caught in these contracts, by these tests");
} else {
	await main().catch((error) => {
		console.error(error.message);
		process.exitCode = 1;
	});
}
