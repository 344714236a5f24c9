import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fault } from "./plan.ts";
import { planArbitrary, planOfSeed } from "./plan-arbitrary.ts";

test("a seed always gives the same plan, of the requested size", () => {
	const plan = planOfSeed(7, { swaps: 50 });
	expect(plan).toEqual(planOfSeed(7, { swaps: 50 }));
	expect(plan).not.toEqual({ ...planOfSeed(8, { swaps: 50 }), seed: 7 });
	expect([plan.swaps.length, plan.faults.length]).toEqual([50, 28]);
});

test("the plans of 300 seeds contain every kind of fault, route and wallet", () => {
	const plans = Array.from({ length: 300 }, (_, seed) => planOfSeed(seed, { swaps: 6 }));
	const kinds = new Set(plans.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
	expect([...kinds].toSorted()).toEqual([
		...[
			"attester",
			"clock-skew",
			"crash",
			"database",
			"drop",
			"engine",
			"finality-stall",
			"foreign-transaction",
		],
		...["gas-spike", "hold-back", "pokes", "price", "reorg", "restore", "rpc"],
	]);
	const swaps = plans.flatMap((plan) => plan.swaps);
	expect(new Set(swaps.map(({ behaviour }) => behaviour)).size).toBe(8);
	expect(new Set(swaps.map(({ from, to }) => `${from} ${to}`)).size).toBe(6);
});

test("every fault ends by the end of the hostile period", () => {
	for (let seed = 0; seed < 200; seed++) {
		const { faults, hostileMs } = planOfSeed(seed, { swaps: 6 });
		expect(Math.max(...faults.map(endOf))).toBeLessThanOrEqual(hostileMs);
	}
});

function endOf(fault: Fault): number {
	const lastsMs = "forMs" in fault ? fault.forMs : fault.kind === "crash" ? fault.downMs : 0;
	return fault.atMs + lastsMs;
}

test("a plan that fails shrinks to the one fault and the one swap that matter", () => {
	const seed = 7;
	const { counterexample } = fc.check(
		fc.property(
			planArbitrary(seed, { swaps: 50 }),
			({ faults, swaps }) =>
				!faults.some(({ kind }) => kind === "crash") ||
				!swaps.some(({ from, usdCents }) => from === "solana" && usdCents > 30_00),
		),
		{ seed, numRuns: 1, unbiased: true },
	);
	const [plan] = counterexample ?? [];
	expect(plan?.faults).toMatchObject([{ kind: "crash", atMs: 0 }]);
	expect(plan?.swaps).toMatchObject([{ from: "solana", usdCents: 30_01, atMs: 0, behaviour: "plain" }]);
});
