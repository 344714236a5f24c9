import { unpackDeadlines } from "@geoswap/protocol";
import type { ChainHead } from "../swap/facts/facts.ts";
import type { Job } from "../swap/facts/job.ts";

/** Why it is too late to sign for a job, by the chain's clock or ours, whichever is ahead; undefined where it is not. */
export function lateReason(
	{ kind, order }: Pick<Job, "kind" | "order">,
	{ head, finalitySeconds, nowMs }: { head: ChainHead; finalitySeconds: number; nowMs: number },
): "expired" | "too_late" | undefined {
	const nowSeconds = BigInt(Math.max(head.timestamp, Math.floor(nowMs / 1_000)));
	const { openDeadline, fillDeadline } = unpackDeadlines(order.deadlines);
	if (kind === "open" && nowSeconds >= openDeadline) return "expired";
	// A fill that the chain drops must still find time to be done again.
	if (kind === "fill" && nowSeconds >= fillDeadline - BigInt(finalitySeconds)) return "too_late";
	return undefined;
}
