import type { Database } from "../database/database.ts";

/** Returns whether a job waits for a lane, or is in a transaction in flight. */
export async function hasOpenJobs(db: Database): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>({
		name: "has-open-jobs",
		text: "select exists (select from jobs where state in ('queued', 'sent')) as found",
	});
	return rows[0]?.found ?? false;
}
