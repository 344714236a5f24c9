import { afterAll, expect, inject, test } from "vitest";
import type { ChainName, Fault, Plan, SwapPlan } from "./plan.ts";
import { startSimulationProcess } from "./simulation-process.ts";

// Worlds run in a separate process, because they replace the signatures of libraries that other test files use, too.
const { run, stop } = startSimulationProcess({ databaseUrl: inject("postgresUrl") });
afterAll(stop);

const swap: SwapPlan = {
	atMs: 0,
	from: "east",
	to: "west",
	input: "stable",
	output: "stable",
	usdCents: 300_00,
	oddUnits: 7,
	wallet: 0,
	behaviour: "plain",
	recipient: "takes",
};
const routes: [ChainName, ChainName, SwapPlan["input"]][] = [
	["east", "west", "stable"],
	["east", "east", "native"],
	["east", "solana", "stable"],
	["solana", "west", "native"],
	["solana", "solana", "native"],
];

function planOf(swaps: Partial<SwapPlan>[], faults: Fault[] = []): Plan {
	return { seed: 7, swaps: swaps.map((change) => ({ ...swap, ...change })), faults, hostileMs: 20_000 };
}

test("without faults a swap of each route settles, and no rule is violated", async () => {
	const plan = planOf(routes.map(([from, to, input], wallet) => ({ from, to, input, wallet })));
	const { violations, stats } = await run(plan);
	expect(violations).toEqual([]);
	expect(stats.byStatus).toEqual({ settled: routes.length });
});

test("with faults, a plan has no violations and gives the same trace each time", async () => {
	const plan = planOf(
		[{}, { wallet: 1, atMs: 3_000 }, { from: "solana", atMs: 1_000 }],
		[
			{ kind: "crash", process: "worker-1", atMs: 500, at: { events: 9 }, downMs: 2_000 },
			{ kind: "crash", process: "worker-2", atMs: 4_000, at: "broadcast", downMs: 1_000 },
			{ kind: "reorg", chain: "east", atMs: 9_000, depth: 2, keepPercent: 50 },
			{ kind: "pokes", how: "lost", atMs: 0, forMs: 15_000, percent: 50 },
			{ kind: "database", process: "worker-1", how: "answer-lost", atMs: 8_000, statements: 5 },
		],
	);
	const first = await run(plan, { keepTrace: true });
	const second = await run(plan, { keepTrace: true });
	expect(first.violations).toEqual([]);
	expect(first.stats.faultsApplied).toEqual({ crash: 2, reorg: 1, pokes: 1, database: 1 });
	expect(second.trace).toEqual(first.trace);
});
