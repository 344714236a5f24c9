import { parseGwei } from "viem";
import { expect, test } from "vitest";
import { type Fees, replacementFees } from "./transaction-fees.ts";

const fees = (maximum: string, tip: string): Fees => ({
	maxFeePerGas: parseGwei(maximum),
	maxPriorityFeePerGas: parseGwei(tip),
});

test("a replacement offers a quarter more than before, and no less than a new transaction", () => {
	expect(replacementFees(fees("10", "1"), fees("10", "1"))).toEqual(fees("12.5", "1.25"));
	expect(replacementFees(fees("10", "1"), fees("40", "4"))).toEqual(fees("40", "4"));
	expect(replacementFees(fees("10", "0"), fees("10", "0"))).toEqual(fees("12.5", "0"));
});

test("the tip of a transaction stays below thirteen times that of a new one, regardless of the number of replacements", () => {
	let now: Fees | undefined = fees("10", "0.001");
	let highest = now;
	// A node that hides our transactions may report base fees that grow as fast as we replace.
	for (let i = 0; now && i < 100; i++) {
		highest = now;
		now = replacementFees(now, { ...fees("10", "0.001"), maxFeePerGas: now.maxFeePerGas });
	}
	expect(now).toBeUndefined();
	expect(highest.maxPriorityFeePerGas).toBeLessThan(13n * parseGwei("0.001"));
});

test("a transaction that offers less than the base fee is replaced even if its tip is higher", () => {
	expect(replacementFees(fees("10", "5"), fees("20", "0.001"))).toEqual(fees("20", "6.25"));
});
