#!/usr/bin/env node
// Runs simulated worlds, seed by seed, and reports the first one with a violation.
import { parseArgs } from "node:util";
import { plantedBugs } from "./bugs/planted-bugs.ts";
import type { Plan } from "./plan.ts";
import { planOfSeed } from "./plan-arbitrary.ts";
import type { RunResult } from "./run-plan.ts";
import { type Progress, runSeeds, type SeedFailure } from "./run-seeds.ts";
import { shrinkPlan } from "./shrink-plan.ts";
import { startSimulationProcess } from "./simulation-process.ts";
import { startSimPostgres } from "./start-sim-postgres.ts";
import { timeline } from "./timeline.ts";

const help = `Runs the service's real code in simulated worlds, under faults that follow from a seed.

Usage: pnpm sim [options]

  --seeds <a..b>     seeds to run, both ends included (default 1..20)
  --seed <n>         run one seed
  --swaps <n>        swaps in each world (default 50)
  --faults <n>       faults in each world (default 3, plus one for every two swaps)
  --strangers <n>    acts of strangers on the chains of each world (default none)
  --jobs <n>         processes to run at once (default 2)
  --trace            print every event; needs --seed
  --swap <k>         print what happened to swap #k, with the faults; needs --seed
  --bug <name>       plant a bug in the code: ${plantedBugs.map(({ name }) => name).join(", ")}
  --no-shrink        do not look for the smallest plan that fails
  --shrink-for <s>   seconds to look for the smallest plan (default 60)
  --keep-going       continue after a violation, and list all seeds that have one
  --database <url>   PostgreSQL server to use; by default one is started, and stopped at the end
  --json             print the result as JSON on standard output
  --help             print this and exit

Exit status: 0 if everything holds, 1 on a violation, 2 on wrong usage.`;

class UsageError extends Error {
	override name = "UsageError";
}

try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UsageError)) throw error;
	console.error(`${error.message}\nSee --help.`);
	process.exitCode = 2;
}

async function main(args: string[]): Promise<number> {
	const options = readOptions(args);
	if (options === "help") {
		console.log(help);
		return 0;
	}
	const postgres = options.database ? undefined : await startSimPostgres();
	// Ctrl-C must not leave the server behind.
	process.once("SIGINT", () => void postgres?.stop().finally(() => process.exit(130)));
	process.once("SIGTERM", () => void postgres?.stop().finally(() => process.exit(143)));
	try {
		return await simulate({ ...options, databaseUrl: options.database ?? postgres?.url ?? "" });
	} finally {
		await postgres?.stop();
	}
}

type Options = Exclude<ReturnType<typeof readOptions>, "help">;

async function simulate(options: Options & { databaseUrl: string }): Promise<number> {
	const { databaseUrl, bug, sizes, seeds, isTraced, isJson } = options;
	if (isTraced || options.swap !== undefined) return traceSeed(options);
	const startMs = Date.now();
	let toldMs = startMs;
	const { progress, failures } = await runSeeds({
		seeds,
		sizes,
		jobs: options.jobs,
		keepsGoing: options.keepsGoing,
		start: () => startSimulationProcess({ databaseUrl, bug }),
		onProgress: (soFar) => {
			if (Date.now() - toldMs < 5_000) return;
			toldMs = Date.now();
			console.error(tellProgress(soFar, { seeds: seeds.length, elapsedMs: toldMs - startMs }));
		},
		onFailure: ({ seed, violations }) => console.error(`seed ${seed}: ${violations[0]}`),
	});
	console.error(tellProgress(progress, { seeds: seeds.length, elapsedMs: Date.now() - startMs }));
	const [first] = failures;
	const story = first && (await tellFailure(first, options));
	if (isJson) {
		console.log(JSON.stringify({ ...progress, failures: failures.map(toJson), ...story }, undefined, "\t"));
	}
	return failures.length > 0 ? 1 : 0;
}

async function tellFailure(
	{ seed, violations }: SeedFailure,
	{ databaseUrl, bug, sizes, shrinkForMs, isJson }: Options & { databaseUrl: string },
): Promise<{ plan: Plan; timeline: string[] }> {
	console.error(`seed ${seed} has a violation:\n${violations.join("\n")}`);
	const simulation = startSimulationProcess({ databaseUrl, bug });
	try {
		let plan = planOfSeed(seed, sizes);
		// A run that threw is not shrunk, because the place where it broke is what counts.
		let result: RunResult | undefined;
		try {
			result = await simulation.run(plan, { keepTrace: true });
		} catch (error) {
			return { plan, timeline: [(error as Error).message] };
		}
		if (shrinkForMs > 0) {
			const { plan: smallest, tried } = await shrinkPlan({
				seed,
				sizes,
				run: (smaller) => simulation.run(smaller),
				forMs: shrinkForMs,
			});
			console.error(`tried ${tried} smaller plans`);
			plan = smallest;
			result = await simulation.run(plan, { keepTrace: true });
		}
		const lines = timeline(plan, result);
		if (!isJson) console.log(`${JSON.stringify(plan)}\n\n${lines.join("\n")}`);
		return { plan, timeline: lines };
	} finally {
		await simulation.stop();
	}
}

async function traceSeed({
	databaseUrl,
	bug,
	sizes,
	seeds,
	swap,
}: Options & { databaseUrl: string }): Promise<number> {
	const [seed] = seeds;
	if (seed === undefined) throw new UsageError("--trace needs --seed");
	const simulation = startSimulationProcess({ databaseUrl, bug });
	try {
		const plan = planOfSeed(seed, sizes);
		const { trace, violations, stats } = await simulation.run(plan, { keepTrace: true });
		const lines =
			swap === undefined
				? [...trace, ...violations.map((violation) => `✗ ${violation}`)]
				: timeline(plan, { trace, violations }, { about: swap });
		console.log(lines.join("\n"));
		console.error(JSON.stringify(stats, undefined, "\t"));
		return violations.length > 0 ? 1 : 0;
	} finally {
		await simulation.stop();
	}
}

function tellProgress(
	{ seedsDone, swaps, seedsFailed }: Progress,
	{ seeds, elapsedMs }: { seeds: number; elapsedMs: number },
): string {
	const rate = (swaps / Math.max(1, elapsedMs / 1_000)).toFixed(1);
	return `${seedsDone} of ${seeds} seeds, ${swaps} swaps, ${rate} a second, ${seedsFailed} with a violation`;
}

function toJson({ seed, violations }: SeedFailure) {
	return { seed, violations };
}

function readOptions(args: string[]) {
	const { values } = parse(args);
	if (values.help) return "help" as const;
	const { bug, database } = values;
	if (bug !== undefined && !plantedBugs.some(({ name }) => name === bug)) {
		throw new UsageError(`There is no planted bug "${bug}".`);
	}
	if ((values.trace || values.swap !== undefined) && values.seed === undefined) {
		throw new UsageError("--trace and --swap need --seed.");
	}
	const swaps = readNatural("--swaps", values.swaps, 1);
	const swap = values.swap === undefined ? undefined : readNatural("--swap", values.swap);
	if (swap !== undefined && swap >= swaps) {
		throw new UsageError(`--swap ${swap}: the ${swaps} swaps of this world are #0 to #${swaps - 1}.`);
	}
	return {
		seeds: values.seed === undefined ? readRange(values.seeds) : [readNatural("--seed", values.seed)],
		sizes: {
			swaps,
			faults: values.faults === undefined ? undefined : readNatural("--faults", values.faults),
			strangers: values.strangers === undefined ? undefined : readNatural("--strangers", values.strangers),
		},
		jobs: readNatural("--jobs", values.jobs, 1),
		isTraced: values.trace,
		swap,
		isJson: values.json,
		keepsGoing: values["keep-going"],
		shrinkForMs: values.shrink ? readNatural("--shrink-for", values["shrink-for"]) * 1_000 : 0,
		bug,
		database,
	};
}

function parse(args: string[]) {
	try {
		return parseArgs({
			args,
			allowNegative: true,
			options: {
				seeds: { type: "string", default: "1..20" },
				seed: { type: "string" },
				swaps: { type: "string", default: "50" },
				faults: { type: "string" },
				strangers: { type: "string" },
				jobs: { type: "string", default: "2" },
				trace: { type: "boolean", default: false },
				swap: { type: "string" },
				bug: { type: "string" },
				shrink: { type: "boolean", default: true },
				"shrink-for": { type: "string", default: "60" },
				"keep-going": { type: "boolean", default: false },
				database: { type: "string" },
				json: { type: "boolean", default: false },
				help: { type: "boolean", default: false },
			},
		});
	} catch (error) {
		throw new UsageError((error as Error).message);
	}
}

function readNatural(name: string, text: string, least = 0): number {
	const number = Number(text);
	if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < least) {
		throw new UsageError(`${name} must be a whole number of at least ${least}, not "${text}".`);
	}
	return number;
}

function readRange(text: string): number[] {
	const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(text) ?? [];
	const [first, last] = [Number(from), Number(to)];
	if (from === undefined || to === undefined || first > last) {
		throw new UsageError(`--seeds must be as in 1..2000, not "${text}".`);
	}
	return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
