import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "../store/database.ts";
import type { ChainHead } from "../store/facts.ts";
import type { Job } from "../store/job.ts";
import { refuseJobs, requeueJobs } from "../store/jobs.ts";
import type { Verdict } from "./verdict.ts";

/** Writes down what becomes of jobs that are not sent now. Returns the swaps of those that are refused. */
export async function writeVerdicts(
	db: Database,
	{ jobs, verdicts, head }: { jobs: readonly Job[]; verdicts: readonly Verdict[]; head: ChainHead },
): Promise<SwapUuid[]> {
	const refused: SwapUuid[] = [];
	for (const [i, job] of jobs.entries()) {
		const verdict = verdicts[i];
		if (verdict?.do === "refuse") {
			await refuseJobs(db, [job], verdict);
			refused.push(job.swapId);
		} else if (verdict?.do === "postpone") {
			const { blocks, alone, strikes } = verdict;
			await requeueJobs(db, [job], { notBeforeBlock: head.number + blocks, alone, strikes });
		}
	}
	return refused;
}
