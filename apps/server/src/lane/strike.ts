import { type Job, type JobKind, maxStrikes } from "../swap/facts/job.ts";
import type { Verdict } from "./verdict.ts";

/** Blocks that such a job waits at most, as a power of two. */
const mostDoublings = 5;

/** Money that is owed is owed however often the chain refuses it: such a job only waits longer and longer. */
const isOwed: Record<JobKind, boolean> = {
	open: false,
	fill: false,
	void: true,
	release: true,
	refund: true,
};

/** The chain refuses the job. */
export function strike(job: Job): Verdict {
	if (isOwed[job.kind]) {
		return { do: "postpone", blocks: 2 ** Math.min(job.strikes, mostDoublings), strikes: 1 };
	}
	if (job.strikes + 1 >= maxStrikes) return { do: "refuse", reason: "reverted" };
	return { do: "postpone", blocks: 1, alone: true, strikes: 1 };
}
