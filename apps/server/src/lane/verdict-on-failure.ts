import { type Job, type JobKind, maxFailures } from "../swap/facts/job.ts";
import type { Verdict } from "./verdict.ts";

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
