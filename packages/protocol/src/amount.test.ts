import fc from "fast-check";
import { expect, test } from "vitest";
import { mulDivDown, mulDivUp, rescaleDown, rescaleUp } from "./amount.ts";

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const divisor = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
const decimals = fc.integer({ min: 0, max: 36 });

test("down and up enclose the exact quotient, and differ by one unit only where it is not whole", () => {
	fc.assert(
		fc.property(amount, amount, divisor, (a, b, d) => {
			const [down, up] = [mulDivDown(a, b, d), mulDivUp(a, b, d)];
			expect(down * d <= a * b && a * b < (down + 1n) * d).toBe(true);
			expect(up - down).toBe(down * d === a * b ? 0n : 1n);
		}),
	);
});

test("what is charged and what is left of it never add up to more than there was", () => {
	fc.assert(
		fc.property(amount, fc.bigInt({ min: 0n, max: 10_000n }), (a, bps) => {
			expect(mulDivUp(a, bps, 10_000n) + mulDivDown(a, 10_000n - bps, 10_000n)).toBe(a);
		}),
	);
});

test("a rescaled amount never grows on its way back, and is exact where decimals are added", () => {
	fc.assert(
		fc.property(amount, decimals, decimals, (a, from, to) => {
			const there = rescaleDown(a, from, to);
			const back = rescaleDown(there, to, from);
			if (to >= from) expect(back).toBe(a);
			else expect(back <= a && rescaleUp(rescaleUp(a, from, to), to, from) >= a).toBe(true);
		}),
	);
	expect(rescaleDown(1_999_999n, 6, 0)).toBe(1n);
	expect(rescaleUp(1_000_001n, 6, 0)).toBe(2n);
});

test("nothing is scaled below zero or by nothing", () => {
	for (const [a, b, d] of [
		[-1n, 1n, 1n],
		[1n, -1n, 1n],
		[1n, 1n, 0n],
		[1n, 1n, -1n],
	] as const) {
		expect(() => mulDivDown(a, b, d)).toThrow(RangeError);
		expect(() => mulDivUp(a, b, d)).toThrow(RangeError);
	}
});
