import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../measure/percentile.ts";
import { type BenchRow, benchRow } from "./bench-row.ts";
import type { SwapsResult } from "./keep-pace.ts";
import type { Pace } from "./load.ts";
import {
	addCosts,
	type Costs,
	costsBetween,
	countCalls,
	countStatements,
	ownParts,
	type Part,
	readCosts,
} from "./read-costs.ts";
import { startSwaps } from "./run-load.ts";
import { amountOfDepth, type Bench } from "./start-bench.ts";

type Depth = keyof typeof amountOfDepth;
export type SwapsPhase = { pace: Pace; count: number; depth: Depth };

/** A statement, the role that executes it, and how often and how long per swap. */
export type StatementRow = { role: string; text: string; perSwap: number; msPerSwap: number };

/** PostgreSQL's statistics lag a second behind the end of the last swap. */
const statisticsMs = 1_500;
const bareIs = "only what cannot be avoided";
const endTimeoutMs = 120_000;
/** Methods that a swap calls less often have no separate row. */
const minCallsShown = 0.1;

/**
 * Measures the costs of swaps until no work is left for any of them, beside the bare twin. Swaps come in waves, because
 * an op can be submitted for only a minute after its quote.
 */
export async function measureCosts(
	bench: Bench,
	{ phase, idle }: { phase: SwapsPhase & { pace: { inFlight: number } }; idle: Costs },
): Promise<{ rows: BenchRow[]; statements: StatementRow[] }> {
	const { environment, database } = bench;
	const { count, depth, pace } = phase;
	const inWave = 2 * pace.inFlight;
	const costs = () => readCosts(environment, database);
	let preparing: Costs | undefined;
	let settling: Costs | undefined;
	const result: SwapsResult = { tookMs: [], endedAtMs: [], refused: 0 };
	const rates: number[] = [];
	for (let left = count; left > 0; left -= inWave) {
		const swaps = await startSwaps({
			kind: "swaps",
			environment: environment.address,
			count: Math.min(left, inWave),
			amount: String(amountOfDepth[depth]),
			pace,
		});
		const funded = await costs();
		await swaps.prepare();
		await sleep(statisticsMs);
		const prepared = await costs();
		const wave = await swaps.submit();
		if (left <= inWave) await allEnded(bench);
		await sleep(statisticsMs);
		preparing = addCosts(preparing, costsBetween(funded, prepared));
		settling = addCosts(settling, costsBetween(prepared, await costs()));
		await swaps.end();
		rates.push(settledPerSecond(wave));
		result.tookMs.push(...wave.tookMs);
		result.refused += wave.refused;
	}
	if (!preparing || !settling) throw new Error("nothing was swapped");
	const swapped = result.tookMs.length;

	const bareBefore = await costs();
	const bareResult = await runBare(bench, phase);
	await sleep(statisticsMs);
	const bare = costsBetween(bareBefore, await costs());

	const both = addCosts(preparing, settling);
	const per = (all: Costs, part: Part) => all.processorMs[part] / (all === bare ? count : swapped);
	const sum = (all: Costs, of: readonly Part[]) => of.reduce((total, part) => total + per(all, part), 0);
	/** Returns the idle costs of the same time, per swap. */
	const without = (ofIdle: number) => ((ofIdle / idle.atMs) * both.atMs) / swapped;
	const title = `${pace.inFlight} in flight, depth ${depth}`;
	const row = benchRow(title, bareIs);
	const ownMs = sum(both, ownParts);
	const statementCount = countStatements(both) / swapped;
	const rows = [
		row(
			"processor time per swap, all processes of the service",
			"ms",
			ownMs,
			sum(bare, ["bare twin", "engine", "PostgreSQL"]),
		),
		...ownParts.map((part) => row(`  ${part}`, "ms", per(both, part))),
		row("  of it quote, delegation and build", "ms", sum(preparing, ownParts)),
		row("    of it API", "ms", per(preparing, "API")),
		row("  less what is used without swaps", "ms", ownMs - without(swapped * sum(idle, ownParts))),
		row("processor time of chains per swap", "ms", per(both, "chains"), per(bare, "chains")),
		row("processor time of callers per swap", "ms", per(both, "callers")),
		row("statements per swap", "", statementCount),
		row("  less those without swaps", "", statementCount - without(countStatements(idle))),
		row("database transactions per swap", "", both.transactions / swapped),
		row("  less those without swaps", "", both.transactions / swapped - without(idle.transactions)),
		row("calls of the engine to a worker per swap", "", both.engineRuns / swapped, bare.engineRuns / count),
		row("records in the engine's log per swap", "", both.engineRecords / swapped, bare.engineRecords / count),
		row("calls to nodes per swap", "", countCalls(both) / swapped),
		row("  less those without swaps", "", countCalls(both) / swapped - without(countCalls(idle))),
		...Object.entries(both.rpcCalls)
			.map(([method, count]) => ({ method, net: count / swapped - without(idle.rpcCalls[method] ?? 0) }))
			.filter(({ net }) => net >= minCallsShown)
			.toSorted((a, b) => b.net - a.net)
			.map(({ method, net }) => row(`    ${method}`, "", net)),
		row("settled a second", "/s", percentile(rates, 50), settledPerSecond(bareResult)),
		...latencyRows({ title, result, bareResult }),
	];
	const statements = both.statements.map(({ role, text, calls, ms }) => ({
		role,
		text: text.replaceAll(/\s+/g, " "),
		perSwap: calls / swapped,
		msPerSwap: ms / swapped,
	}));
	return { rows, statements };
}

/** Measures the time from submit to settled while swaps arrive at a steady rate. */
export async function measureArrivals(
	bench: Bench,
	phase: SwapsPhase & { pace: { perSecond: number } },
): Promise<BenchRow[]> {
	const { count, depth, pace } = phase;
	// The bare twin runs before the service, whose releases continue after its swaps are settled.
	const bareResult = await runBare(bench, phase);
	const swaps = await startSwaps({
		kind: "swaps",
		environment: bench.environment.address,
		count,
		amount: String(amountOfDepth[depth]),
		pace,
	});
	await swaps.prepare();
	const result = await swaps.submit();
	await swaps.end();
	const title = `${pace.perSecond} arrive each second, depth ${depth}`;
	return latencyRows({ title, result, bareResult });
}

function latencyRows({
	title,
	result,
	bareResult,
}: {
	title: string;
	result: SwapsResult;
	bareResult: SwapsResult;
}): BenchRow[] {
	const row = benchRow(title, bareIs);
	const { refused, tookMs } = result;
	return [
		...[50, 95].map((percent) =>
			row(
				`submit to settled, p${percent} of ${tookMs.length}`,
				"ms",
				percentile(tookMs, percent),
				percentile(bareResult.tookMs, percent),
			),
		),
		...(refused > 0 ? [row("not taken by the service, which was too busy", "", refused)] : []),
	];
}

/** Returns the rate in the middle of the run, when the intended number was in flight. */
function settledPerSecond({ endedAtMs }: SwapsResult): number {
	const [from, to] = [percentile(endedAtMs, 20), percentile(endedAtMs, 80)];
	const within = endedAtMs.filter((at) => at > from && at <= to).length;
	return (within * 1_000) / (to - from);
}

async function runBare({ bare, database }: Bench, { count, depth, pace }: SwapsPhase): Promise<SwapsResult> {
	const bundles = await database.query<{ kind: string; jobs: number; bytesPerJob: number }>(
		`select kind, sum(jsonb_array_length(jobs))::float / count(*) as jobs,
			sum(length(raw))::float / sum(jsonb_array_length(jobs)) as "bytesPerJob"
		from lane_transactions where jsonb_array_length(jobs) > 0 group by kind`,
	);
	const one = { jobs: 1, bytesPerJob: 500 };
	const response = await fetch(`${bare.swap.url}/settings`, {
		method: "PUT",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			depthBlocks: depth,
			bundles: Object.fromEntries(
				["open", "fill", "release"].map((kind) => [
					kind,
					bundles.find((bundle) => bundle.kind === kind) ?? one,
				]),
			),
		}),
	});
	if (!response.ok) throw new Error(`the bare twin refused its settings: ${await response.text()}`);
	const swaps = await startSwaps({ kind: "bare-swaps", url: bare.swap.url, count, pace });
	await swaps.prepare();
	const result = await swaps.submit();
	await swaps.end();
	return result;
}

/** Waits until no work is left for any swap. */
async function allEnded({ database }: Bench): Promise<void> {
	for (const deadline = performance.now() + endTimeoutMs; ; await sleep(500)) {
		const [row] = await database.query<{ left: number }>(
			"select count(*)::int as left from swaps where ended_at is null",
		);
		if (row?.left === 0) return;
		if (performance.now() > deadline) throw new Error(`${row?.left} swaps have not ended`);
	}
}
