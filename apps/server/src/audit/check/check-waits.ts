import type { Seconds } from "@geoswap/protocol";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/** Seconds that a due swap may wait. A worker processes it within a second or two. */
const patienceSeconds = 60;

/**
 * I14: every swap that has not ended has a time at which it is processed again, and is processed then. Otherwise no
 * worker would ever process it. A breach pauses nothing, because no money moves meanwhile.
 */
export function checkWaits(
	swaps: readonly AuditedSwap[],
	{
		workingSeconds,
	}: {
		/** The time for which a worker has been running that could process the swaps. */ workingSeconds: Seconds;
	},
): Finding[] {
	return swaps.flatMap(({ id, orderId, order, isEnded, dueSeconds }): Finding[] => {
		if (isEnded) return [];
		const chainIds = [...new Set([Number(order.originChainId), Number(order.destinationChainId)])];
		const of = { invariant: "I14", chainIds, orderId, swapId: id, pauses: false } as const;
		if (dueSeconds === undefined) {
			return [{ ...of, message: `swap ${id} has not ended, and has no time for its next round` }];
		}
		if (Math.min(dueSeconds, workingSeconds) <= patienceSeconds) return [];
		return [{ ...of, message: `swap ${id} has been due for ${Math.round(dueSeconds)} s` }];
	});
}
