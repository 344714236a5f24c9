import { type Amount, greater, lesser } from "@geoswap/protocol";
import type { InventoryReading } from "../swap/facts/free-inventory.ts";

const centibpsPerBps = 100n;
const millibpsPerCentibp = 10;

/**
 * Returns what a token's inventory adds to the price of a swap that takes it, in hundredths of a basis point, rounded
 * up. It is the cost of moving more of it there while nothing is left, falls with what is free or on its way, and is
 * negative beyond the need. A swap that brings the token is charged the opposite.
 */
export function tokenSkewCentibps(
	{ needed, virtual, moveCostBps }: { needed: Amount; virtual: Amount; moveCostBps: number },
	{ maxBps }: { maxBps: number },
): number {
	if (needed === 0n) return 0;
	const bound = BigInt(Math.min(moveCostBps, maxBps)) * centibpsPerBps;
	const scaled = bound * (needed - virtual);
	// Division rounds toward zero, which is up for a negative number.
	const skew = scaled > 0n ? (scaled + needed - 1n) / needed : scaled / needed;
	return Number(greater(lesser(skew, bound), -bound));
}

/**
 * Returns what inventory adds to a swap's price: the skew of the token that leaves, less that of the token that comes.
 * A discount is at most the fee, so that no caller gains by swapping in a circle.
 */
export function swapSkewCentibps(
	{ taken, brought }: { taken: InventoryReading | undefined; brought: InventoryReading | undefined },
	{ feeMillibps, maxBps }: { feeMillibps: number; maxBps: number },
): number {
	const maxDiscount = Math.floor(feeMillibps / millibpsPerCentibp);
	const skew = skewOf(taken) - skewOf(brought);
	return skew < -maxDiscount ? 0 - maxDiscount : skew;

	function skewOf(reading: InventoryReading | undefined): number {
		if (!reading?.need) return 0;
		const { needed, arriving, moveCostBps } = reading.need;
		return tokenSkewCentibps({ needed, virtual: reading.free + arriving, moveCostBps }, { maxBps });
	}
}
