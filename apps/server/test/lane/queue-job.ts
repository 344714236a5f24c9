import type { Database } from "../../src/database/database.ts";
import type { NewJob } from "../../src/job/jobs.ts";
import { queueJobs } from "../../src/job/queue-jobs.ts";

/** Queues one job, in the turn of its swap. */
export async function queueJob(db: Database, job: NewJob): Promise<void> {
	const { rows } = await db.query<{ turn: number }>("select turn from swaps where id = $1", [job.swapId]);
	await queueJobs(db, [{ job, turn: rows[0]?.turn ?? 0 }]);
}
