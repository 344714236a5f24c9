import { type Milliseconds, type Seconds, unpackDeadlines } from "@geoswap/protocol";
import type { JobChange } from "../job/journal/journal-lease.ts";
import type { ChainHead } from "../swap/facts/facts.ts";
import { type Job, type JobKind, type JobReason, maxFailures } from "../swap/facts/job.ts";

/** The decision on a job after its bundle was simulated. */
export type Verdict =
	| { do: "send" }
	| { do: "refuse"; reason: JobReason }
	/** The job is tried again after this many blocks. */
	| { do: "postpone"; blocks: number; alone?: boolean; failures?: 0 | 1 }
	/** Nothing is known about the job itself, for example because another one made the bundle fail. */
	| { do: "leave" };

/** The maximum number of blocks that a job with owed money waits, as a power of two. */
const maxDoublings = 5;

/**
 * True for jobs with owed money, which stays owed if the chain refuses the job. Each refusal only makes the job wait
 * longer.
 */
const isOwed: Record<JobKind, boolean> = {
	open: false,
	fill: false,
	void: true,
	release: true,
	refund: true,
};

/** Returns the verdict on a job that the chain refuses. */
export function verdictOnFailure(job: Job): Extract<Verdict, { do: "refuse" | "postpone" }> {
	if (isOwed[job.kind]) {
		return { do: "postpone", blocks: 2 ** Math.min(job.failures, maxDoublings), failures: 1 };
	}
	if (job.failures + 1 >= maxFailures) return { do: "refuse", reason: "reverted" };
	return { do: "postpone", blocks: 1, alone: true, failures: 1 };
}

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

/** Turns a verdict on a job that is not sent now into the change of its row. */
export function toJobChange(verdict: Verdict, head: ChainHead): JobChange {
	if (verdict.do === "refuse") return { refuse: verdict.reason };
	if (verdict.do !== "postpone") return {};
	const { do: _, blocks, ...change } = verdict;
	return { ...change, notBeforeBlock: head.number + blocks };
}
