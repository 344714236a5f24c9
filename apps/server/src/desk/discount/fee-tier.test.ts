import { expect, test } from "vitest";
import { discountedFee, earnedTier } from "./fee-discounts.ts";

const tiers = [
	{ name: "bronze", minimum: "1000", discountPercent: 10 },
	{ name: "gold", minimum: "100000", discountPercent: 50 },
];
const of = (discountPercent: number) => ({ name: "one", minimum: "1", discountPercent });

test("a tier is earned at exactly its minimum, and not one unit below", () => {
	const unit = 10n ** 18n;
	const tierOf = (balance: bigint) => earnedTier(tiers, { balance, decimals: 18 })?.name;
	expect(tierOf(0n)).toBeUndefined();
	expect(tierOf(1_000n * unit - 1n)).toBeUndefined();
	expect(tierOf(1_000n * unit)).toBe("bronze");
	expect(tierOf(100_000n * unit - 1n)).toBe("bronze");
	expect(tierOf(2n ** 255n)).toBe("gold");
	expect(earnedTier(tiers, { balance: 1_000n, decimals: 0 })?.name).toBe("bronze");
});

test("a discounted fee is exact to a thousandth of a basis point, and rounded up beyond that", () => {
	expect(discountedFee(12_500, of(10))).toBe(11_250);
	expect(discountedFee(12_500, of(25))).toBe(9_375);
	expect(discountedFee(12_500, of(33.333))).toBe(8_334);
	expect(discountedFee(12_500, of(99.9999))).toBe(1);
	expect(discountedFee(12_500, of(100))).toBe(0);
	expect(discountedFee(0, of(50))).toBe(0);
	for (let percent = 1; percent <= 100; percent++) {
		const left = discountedFee(12_371, of(percent));
		expect(left * 100).toBeGreaterThanOrEqual(12_371 * (100 - percent));
		expect(left * 100).toBeLessThan(12_371 * (100 - percent) + 100);
	}
});
