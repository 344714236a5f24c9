import { type Milliseconds, type Seconds, unpackDeadlines } from "@geoswap/protocol";
import type { ChainHead } from "../swap/facts/facts.ts";
import type { Job } from "../swap/facts/job.ts";

/**
 * Returns why it is too late to sign for a job, by the later of the chain's clock and the local one; else undefined.
 */
export function lateReason(
	{ kind, order }: Pick<Job, "kind" | "order">,
	{ head, finalitySeconds, nowMs }: { head: ChainHead; finalitySeconds: Seconds; nowMs: Milliseconds },
): "expired" | "too_late" | undefined {
	const nowSeconds = BigInt(Math.max(head.timestamp, Math.floor(nowMs / 1_000)));
	const { openDeadline, fillDeadline } = unpackDeadlines(order.deadlines);
	if (kind === "open" && nowSeconds >= openDeadline) return "expired";
	// There must be time to repeat a fill that is reorged.
	if (kind === "fill" && nowSeconds >= fillDeadline - BigInt(finalitySeconds)) return "too_late";
	return undefined;
}
