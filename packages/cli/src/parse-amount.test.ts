import { expect, test } from "vitest";
import { formatAmount } from "./format-amount.ts";
import { parseAmount } from "./parse-amount.ts";

test.each([
	["12.5", 6, 12_500_000n],
	["0.000001", 6, 1n],
	["1", 0, 1n],
	["007", 2, 700n],
	["0.1", 18, 100_000_000_000_000_000n],
	// More than a floating point number holds.
	["9007199254740993.000000000000000001", 18, 9_007_199_254_740_993_000_000_000_000_000_001n],
])("%s with %i decimals is parsed exactly", (text, decimals, units) => {
	expect(parseAmount("--amount", text, decimals)).toBe(units);
});

test.each([
	["1.0000001", 6, "7 decimals"],
	["1.0000000", 6, "7 decimals"],
	["1.5", 0, "1 decimals"],
	["0", 6, "zero"],
	["0.000000", 6, "zero"],
	["-1", 6, "not an amount"],
	["+1", 6, "not an amount"],
	["1e3", 6, "not an amount"],
	["0x10", 6, "not an amount"],
	["1,000", 6, "not an amount"],
	["1_000", 6, "not an amount"],
	[".5", 6, "not an amount"],
	["5.", 6, "not an amount"],
	[" 5", 6, "not an amount"],
	["١", 6, "not an amount"],
	["", 6, "not an amount"],
	["Infinity", 6, "not an amount"],
	["MAX", 6, "not an amount"],
	["9".repeat(78), 0, "more than any token"],
])("%s with %i decimals is refused, never rounded", (text, decimals, why) => {
	expect(() => parseAmount("--amount", text, decimals)).toThrow(why);
});

test("a formatted amount is parsed back to the same units", () => {
	for (const decimals of [0, 1, 6, 9, 18]) {
		for (const units of [1n, 9n, 10n, 1_000_000n, 123_456_789n, 10n ** 30n + 7n]) {
			expect(parseAmount("--amount", formatAmount(units, decimals), decimals)).toBe(units);
		}
	}
	expect(formatAmount(0n, 6)).toBe("0");
	expect(formatAmount("1500000", 6)).toBe("1.5");
});
