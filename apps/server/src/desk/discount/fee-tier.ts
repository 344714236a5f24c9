import { mulDivUp } from "@geoswap/protocol";

/** What a wallet pays less, and what that is called. */
export type FeeTier = {
	name: string;
	/** In whole tokens. */
	minimum: string;
	discountPercent: number;
};

/** The best tier that the balance, in smallest units, is enough for. */
export function earnedTier(
	tiers: readonly FeeTier[],
	{ balance, decimals }: { balance: bigint; decimals: number },
): FeeTier | undefined {
	// They ascend: the last one that is reached is the best.
	return tiers.findLast(({ minimum }) => balance >= BigInt(minimum) * 10n ** BigInt(decimals));
}

const millionth = 1_000_000;
const whole = 100n * BigInt(millionth);

/** The fee that is left, rounded up: nobody gets more off than the tier says. */
export function discountedFee(feeMillibps: number, { discountPercent }: FeeTier): number {
	const off = BigInt(Math.round(discountPercent * millionth));
	return Number(mulDivUp(BigInt(feeMillibps), whole - off, whole));
}
