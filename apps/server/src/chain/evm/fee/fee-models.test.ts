import fc from "fast-check";
import { numberToHex, type RpcTransactionReceipt } from "viem";
import { expect, test } from "vitest";
import { type FeeRates, feeModelOf, noL1Rates } from "./fee-model.ts";

const kinds = ["eip1559", "op-stack", "arbitrum"] as const;
const shapes = fc.record({
	gas: fc.bigInt(21_000n, 2n ** 24n),
	fastLzBytes: fc.integer({ min: 100, max: 20_000 }),
	brotliBytes: fc.integer({ min: 100, max: 20_000 }),
});
const wei = fc.bigInt(0n, 10n ** 12n);
const rates = fc.record({
	baseFee: wei,
	tip: wei,
	l1: fc.record({
		picoWeiPerDataUnit: fc.bigInt(0n, 10n ** 24n),
		operatorWeiPerMillionGas: wei,
		operatorWei: wei,
	}),
});

test("a transaction costs no less if it uses more gas or data, or if any fee is higher", () => {
	fc.assert(
		fc.property(fc.constantFrom(...kinds), shapes, rates, (kind, shape, before) => {
			const { cost } = feeModelOf({ kind });
			const least = cost(before, shape);
			const { l1 } = before;
			const dearer: FeeRates[] = [
				{ ...before, baseFee: before.baseFee + 1n },
				{ ...before, tip: before.tip + 1n },
				...(["picoWeiPerDataUnit", "operatorWeiPerMillionGas", "operatorWei"] as const).map((rate) => ({
					...before,
					l1: { ...l1, [rate]: l1[rate] + 10n ** 12n },
				})),
			];
			for (const after of dearer) expect(cost(after, shape)).toBeGreaterThanOrEqual(least);
			const { gas, fastLzBytes, brotliBytes } = shape;
			expect(cost(before, { ...shape, gas: gas + 1n })).toBeGreaterThanOrEqual(least);
			expect(cost(before, { ...shape, fastLzBytes: fastLzBytes + 1 })).toBeGreaterThanOrEqual(least);
			expect(cost(before, { ...shape, brotliBytes: brotliBytes + 1 })).toBeGreaterThanOrEqual(least);
			expect(least).toBeGreaterThanOrEqual(gas * before.baseFee);
		}),
	);
});

test("a sender with the required balance can pay for the whole gas limit, also after five full blocks", () => {
	fc.assert(
		fc.property(fc.constantFrom(...kinds), shapes, rates, (kind, shape, before) => {
			// Arbitrum's base fee has a minimum, and no amount of gas pays for data at a base fee of 0.
			fc.pre(kind !== "arbitrum" || before.baseFee > 0n);
			const { cost, mustHold } = feeModelOf({ kind });
			const risen = { ...before, baseFee: (before.baseFee * 9n ** 5n) / 8n ** 5n };
			expect(mustHold(before, shape)).toBeGreaterThanOrEqual(cost(risen, shape));
		}),
	);
});

function receiptWith(fields: Record<string, bigint>): RpcTransactionReceipt {
	const hex = Object.entries(fields).map(([name, value]) => [name, numberToHex(value)]);
	return Object.fromEntries(hex) as unknown as RpcTransactionReceipt;
}

test("the actual cost of a transaction includes the L1 fee and the operator fee, by the formula of its block", () => {
	const gas = { gasUsed: 200_000n, effectiveGasPrice: 7n };
	const { paid } = feeModelOf({ kind: "op-stack" });
	expect(paid(receiptWith(gas))).toBe(1_400_000n);
	expect(paid(receiptWith({ ...gas, l1Fee: 55n }))).toBe(1_400_055n);
	const operator = { ...gas, l1Fee: 55n, operatorFeeScalar: 3_000_000n, operatorFeeConstant: 9n };
	expect(paid(receiptWith(operator))).toBe(1_400_055n + 600_000n + 9n);
	const jovian = { ...operator, operatorFeeScalar: 3n, daFootprintGasScalar: 400n };
	expect(paid(receiptWith(jovian))).toBe(1_400_055n + 60_000_000n + 9n);
	// On Arbitrum the fee for the data is part of the gas.
	const arbitrum = receiptWith({ ...gas, gasUsedForL1: 90_000n, l1Fee: 1n });
	expect(feeModelOf({ kind: "arbitrum" }).paid(arbitrum)).toBe(1_400_000n);
});

test("rates that the chain does not give are an error, never a cost of zero", () => {
	const opStack = feeModelOf({ kind: "op-stack" });
	expect(() => opStack.l1Rates(opStack.views.map(() => []))).toThrow("GasPriceOracle");
	expect(() => feeModelOf({ kind: "arbitrum" }).l1Rates([[]])).toThrow("ArbGasInfo");
	// An oracle from before Isthmus has no operator fee.
	for (const operator of [
		[[40n], []],
		[[], [40n]],
		[[40n], [39n]],
	]) {
		expect(() => opStack.l1Rates([[10n], [2n], [5n], [3n], ...operator])).toThrow("operator fee");
	}
	expect(opStack.l1Rates([[10n], [2n], [5n], [3n], [], []])).toEqual({
		...noL1Rates,
		picoWeiPerDataUnit: 335n,
	});
	expect(opStack.l1Rates([[10n], [2n], [5n], [3n], [40n], [1_000_040n]])).toEqual({
		picoWeiPerDataUnit: 335n,
		operatorWeiPerMillionGas: 1_000_000n,
		operatorWei: 40n,
	});
});
