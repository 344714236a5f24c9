import fc from "fast-check";
import { expect, test } from "vitest";
import { mulDivDown, mulDivUp, rescaleDown, rescaleUp } from "./amount.ts";

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const divisor = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
const decimals = fc.integer({ min: 0, max: 36 });

test("mulDivDown and mulDivUp round the exact quotient down and up, and differ by one only if it is not whole", () => {
	fc.assert(
		fc.property(amount, amount, divisor, (a, b, d) => {
			const [down, up] = [mulDivDown(a, b, d), mulDivUp(a, b, d)];
			expect(down * d <= a * b && a * b < (down + 1n) * d).toBe(true);
			expect(up - down).toBe(down * d === a * b ? 0n : 1n);
		}),
	);
});

test("a fee that is rounded up and a remainder that is rounded down add up to the amount", () => {
	fc.assert(
		fc.property(amount, fc.bigInt({ min: 0n, max: 10_000n }), (a, bps) => {
			expect(mulDivUp(a, bps, 10_000n) + mulDivDown(a, 10_000n - bps, 10_000n)).toBe(a);
		}),
	);
});

test("adding decimals is exact; removing them and adding them again gains nothing with rescaleDown and loses nothing with rescaleUp", () => {
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

test("mulDivDown and mulDivUp refuse a negative factor and a divisor that is not positive", () => {
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
