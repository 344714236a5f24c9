import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultTreasuryPolicy } from "../config/treasury-policy.ts";
import { needsOf, type SettlementHolding } from "./need.ts";

const usdc = 1_000_000n;
const minute = 30_000_000;
const policy = defaultTreasuryPolicy;

function holding(fields: Partial<SettlementHolding>): SettlementHolding {
	return {
		chainId: 1,
		decimals: 6,
		target: 10_000n * usdc,
		free: 10_000n * usdc,
		arriving: 0n,
		demand: [],
		...fields,
	};
}

function needOf(one: SettlementHolding, others: SettlementHolding[] = []) {
	const need = needsOf([one, ...others], { minute, policy }).get(one.chainId);
	if (!need) throw new Error("each chain has a need");
	return need;
}

/** The same net outflow in each minute of two days. */
function steady(outflow: bigint, inflow: bigint): SettlementHolding["demand"] {
	return Array.from({ length: 2_880 }, (_, age) => ({ minute: minute - age, outflow, inflow }));
}

test("a chain without demand needs the minimum share of its target", () => {
	expect(needOf(holding({})).amount).toBe(2_500n * usdc);
	expect(needOf(holding({ target: 3n })).amount).toBe(1n);
});

test("a steady outflow is needed for the whole horizon", () => {
	const { amount, outflowPerHour } = needOf(holding({ demand: steady(60n * usdc, 10n * usdc) }));
	expect(Number(outflowPerHour) / 1e6).toBeCloseTo(3_000, 3);
	expect(Number(amount) / 1e6).toBeCloseTo(3_000, 0);
});

test("a chain that receives more than it pays needs the minimum, and has a negative outflow", () => {
	const { amount, outflowPerHour } = needOf(holding({ demand: steady(0n, 50n * usdc) }));
	expect(amount).toBe(2_500n * usdc);
	expect(outflowPerHour).toBeLessThan(0n);
});

test("demand that is three hours older counts half, and a changing demand adds its deviation", () => {
	const outflow = 1_000n * usdc;
	const now = needOf(holding({ demand: [{ minute, outflow, inflow: 0n }] }));
	const before = needOf(holding({ demand: [{ minute: minute - 180, outflow, inflow: 0n }] }));
	expect(Number(before.outflowPerHour) / Number(now.outflowPerHour)).toBeCloseTo(0.5, 6);
	expect(now.deviationPerHour).toBeGreaterThan(0n);
});

test("demand in the future, or older than eight half-lives, counts nothing", () => {
	const outflow = 1_000_000n * usdc;
	const demand = [minute + 1, minute - 8 * 180].map((at) => ({ minute: at, outflow, inflow: 0n }));
	expect(needOf(holding({ demand }))).toMatchObject({ amount: 2_500n * usdc, outflowPerHour: 0n });
});

test("needs above the whole inventory are lowered by the same share, whatever decimals the tokens have", () => {
	const one = holding({ free: 1_000n * usdc, target: 20_000n * usdc });
	const other = holding({
		chainId: 56,
		decimals: 18,
		target: 20_000n * 10n ** 18n,
		free: 0n,
		arriving: 1_000n * 10n ** 18n,
	});
	expect(needOf(one, [other]).amount).toBe(1_000n * usdc);
	expect(needOf(other, [one]).amount).toBe(1_000n * 10n ** 18n);
});

test("the needs of all chains are never more than the inventory, unless they are nothing", () => {
	const amount = fc.bigInt(0n, 10n ** 13n);
	const row = fc.record({
		minute: fc.integer({ min: minute - 2_000, max: minute }),
		outflow: amount,
		inflow: amount,
	});
	const one = fc.record({
		target: amount,
		free: amount,
		arriving: amount,
		demand: fc.array(row, { maxLength: 30 }),
	});
	fc.assert(
		fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (all) => {
			const holdings = all.map((fields, i) => holding({ ...fields, chainId: i }));
			const needs = needsOf(holdings, { minute, policy });
			const total = [...needs.values()].reduce((sum, need) => sum + need.amount, 0n);
			const held = holdings.reduce((sum, { free, arriving }) => sum + free + arriving, 0n);
			expect(total).toBeLessThanOrEqual(held);
			for (const need of needs.values()) expect(need.amount).toBeGreaterThanOrEqual(0n);
		}),
	);
});
