#!/usr/bin/env node
// Runs the planner in worlds of a week, and prints what it serves beside worlds without moves and with a slow bridge.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { FlowName } from "./flow.ts";
import { runWorlds } from "./run-worlds.ts";
import { treasuryBugs } from "./treasury-bugs.ts";
import type { WorldMode, WorldResult } from "./treasury-world.ts";

const help = `Runs weeks of four chains with the real planner, and compares books and chains to the last digit.

Usage: node apps/server/sim/treasury/main.ts [options]

  --worlds <n>     number of worlds, with the seeds from 1 (default 10)
  --seed <n>       run this seed alone
  --flow <name>    one-way or mixed (default: both)
  --mode <name>    act, plan (nothing is carried out) or slow (the bridge takes seven times as long) (default: all three)
  --days <n>       length of a world, at most 7 (default 7)
  --jobs <n>       processes to run at once (default: one for each processor)
  --bug <name>     plant a bug: ${treasuryBugs.map(({ name }) => name).join(", ")}
  --each           print a row for each seed
  --json           print the results as JSON on standard output
  --help           print this and exit

Exit status: 0 if everything holds, 1 on a violation, 2 on wrong usage.`;

const flows: readonly FlowName[] = ["one-way", "mixed"];
const modes: readonly WorldMode[] = ["act", "plan", "slow"];

class UsageError extends Error {
	override name = "UsageError";
}

try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	const isUsage =
		error instanceof UsageError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS");
	if (!isUsage) throw error;
	console.error(`${(error as Error).message}\nSee --help.`);
	process.exitCode = 2;
}

async function main(args: string[]): Promise<number> {
	const { values } = parseArgs({
		args,
		options: {
			worlds: { type: "string", default: "10" },
			seed: { type: "string" },
			flow: { type: "string" },
			mode: { type: "string" },
			days: { type: "string", default: "7" },
			jobs: { type: "string", default: String(availableParallelism()) },
			bug: { type: "string" },
			each: { type: "boolean", default: false },
			json: { type: "boolean", default: false },
			help: { type: "boolean", default: false },
		},
	});
	if (values.help) {
		console.log(help);
		return 0;
	}
	const { bug } = values;
	if (bug !== undefined && !treasuryBugs.some(({ name }) => name === bug)) {
		throw new UsageError(`There is no bug ${bug}.`);
	}
	const days = whole("--days", values.days);
	if (days > 7) throw new UsageError("--days must be at most 7.");
	const seeds =
		values.seed === undefined
			? Array.from({ length: whole("--worlds", values.worlds) }, (_, i) => i + 1)
			: [whole("--seed", values.seed)];
	const requests = chosen("--flow", values.flow, flows).flatMap((flow) =>
		chosen("--mode", values.mode, modes).flatMap((mode) => seeds.map((seed) => ({ seed, flow, mode, days }))),
	);
	let done = 0;
	const onResult = () => {
		done++;
		if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${requests.length} worlds`);
	};
	const results = await runWorlds(requests, { jobs: whole("--jobs", values.jobs), bug, onResult });
	if (process.stderr.isTTY) process.stderr.write("\n");
	if (values.json) console.log(JSON.stringify(results, null, "\t"));
	else report(results, { isEach: values.each });
	return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function report(results: readonly WorldResult[], { isEach }: { isEach: boolean }): void {
	const groups = new Map<string, WorldResult[]>();
	for (const result of results) {
		const name = `${result.flow}, ${result.mode}${isEach ? `, seed ${result.seed}` : ""}`;
		groups.set(name, [...(groups.get(name) ?? []), result]);
	}
	const rows = [...groups].sort(([, [a]], [, [b]]) => (isEach ? (a?.seed ?? 0) - (b?.seed ?? 0) : 0));
	console.table(Object.fromEntries(rows.map(([name, worlds]) => [name, rowOf(worlds)])));
	console.log(
		"Served and in band in percent. Turnover, fees, moving costs and the rest in USD a day; moves a day.",
	);
	for (const { flow, mode, seed, violations } of results) {
		for (const violation of violations) console.log(`${flow}, ${mode}, seed ${seed}: ${violation}`);
	}
}

function rowOf(worlds: readonly WorldResult[]) {
	const mean = (of: (world: WorldResult) => number, digits = 0) =>
		Number((worlds.reduce((sum, world) => sum + of(world), 0) / worlds.length).toFixed(digits));
	return {
		served: mean(({ servedShare }) => 100 * servedShare, 1),
		"at usual gas": mean(({ servedShareAtUsualGas }) => 100 * servedShareAtUsualGas, 1),
		"in band": mean(({ inBandShare }) => 100 * inBandShare, 1),
		turnover: mean(({ turnover }) => turnover),
		fees: mean(({ fees }) => fees),
		moving: mean(({ movingCosts }) => movingCosts),
		"fees − moving": mean(({ fees, movingCosts }) => fees - movingCosts),
		moves: mean(({ counts, days }) => counts.moved / days),
		fast: mean(({ counts, days }) => counts.fast / days),
		late: mean(({ counts, days }) => counts.stuck / days, 1),
		violations: worlds.reduce((sum, { violations }) => sum + violations.length, 0),
	};
}

function chosen<Name extends string>(
	option: string,
	value: string | undefined,
	names: readonly Name[],
): readonly Name[] {
	if (value === undefined) return names;
	const found = names.find((name) => name === value);
	if (!found) throw new UsageError(`${option} is ${names.join(" or ")}.`);
	return [found];
}

function whole(option: string, value: string): number {
	const parsed = Number(value);
	if (!Number.isSafeInteger(parsed) || parsed < 1)
		throw new UsageError(`${option} is a whole number from 1.`);
	return parsed;
}
