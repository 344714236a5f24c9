import { firstSwapUuidAt, type Milliseconds, type SwapUuid } from "@geoswap/protocol";

const dayMs = 86_400_000;
/** Time that an id may be ahead, since ids are made by the clocks of other processes too. */
const aheadMs = 3_600_000;

/**
 * Returns the first and the last id that a swap of the last day can have. A statement with both is planned for the
 * partitions of two days. With the first alone it is planned for the empty ones of future days too, which takes longer
 * than to run it.
 */
export function recentSwapIds(nowMs: Milliseconds): [first: SwapUuid, last: SwapUuid] {
	return [firstSwapUuidAt(nowMs - dayMs), firstSwapUuidAt(nowMs + aheadMs)];
}
