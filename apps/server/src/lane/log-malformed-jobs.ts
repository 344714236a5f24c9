import type { MalformedJob } from "../job/take-jobs.ts";
import type { Lane } from "./evm/lane.ts";

/** Logs an error for each job that a lane took and could not read. */
export function logMalformedJobs(
	{ id, log }: Pick<Lane, "id" | "log">,
	malformed: readonly MalformedJob[],
): void {
	for (const { swapId, kind, err } of malformed) {
		log.error(
			{ ...id, swapId, kind, err },
			"the job cannot be read; an open is refused, any other job waits",
		);
	}
}
