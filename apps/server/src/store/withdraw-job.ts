import type { Database } from "./database.ts";
import type { JobKey } from "./jobs.ts";

/** Takes a job back. Does nothing where a transaction has it: a lane holds the row until that is written. */
export async function withdrawJob(db: Database, { swapId, kind }: JobKey): Promise<void> {
	await db.query("delete from jobs where swap_id = $1 and kind = $2 and state = 'queued'", [swapId, kind]);
}
