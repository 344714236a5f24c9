import { mulDivUp } from "@geoswap/protocol";

/** The discount of a wallet, and its name. */
export type FeeTier = {
	name: string;
	/** The minimum balance in whole tokens. */
	minimum: string;
	discountPercent: number;
};

/** Returns the best tier that the balance, in smallest units, reaches. */
export function earnedTier(
	tiers: readonly FeeTier[],
	{ balance, decimals }: { balance: bigint; decimals: number },
): FeeTier | undefined {
	// Tiers ascend, so the last one reached is the best.
	return tiers.findLast(({ minimum }) => balance >= BigInt(minimum) * 10n ** BigInt(decimals));
}

const millionth = 1_000_000;
const whole = 100n * BigInt(millionth);

/** Returns the fee after the discount, rounded up, so that no wallet gets more than its tier's discount. */
export function discountedFee(feeMillibps: number, { discountPercent }: FeeTier): number {
	const off = BigInt(Math.round(discountPercent * millionth));
	return Number(mulDivUp(BigInt(feeMillibps), whole - off, whole));
}
