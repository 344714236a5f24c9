import { firstSwapUuidAt } from "@geoswap/protocol";
import type { Database } from "./database.ts";

const dayMs = 86_400_000;
const tables = ["swaps", "swap_events"] as const;
/** Any number that nothing else in the database locks. */
const lockId = 7_461_002;

/**
 * Makes a partition for each day from yesterday to `daysAhead` from now, where there is none. An id is made at quote
 * time, so a day's partition is needed from its first millisecond on.
 */
export async function ensurePartitions(
	db: Database,
	{ nowMs, daysAhead }: { nowMs: number; daysAhead: number },
): Promise<void> {
	const today = Math.floor(nowMs / dayMs);
	for (let day = today - 1; day <= today + daysAhead; day++) {
		const name = new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "_");
		const range = `from ('${firstSwapUuidAt(day * dayMs)}') to ('${firstSwapUuidAt((day + 1) * dayMs)}')`;
		for (const table of tables) {
			// Two workers that start at once would both find none and both make it: the second fails. What is sent together is
			// one transaction, which holds the lock until it is done.
			await db.query(
				`select pg_advisory_xact_lock(${lockId});
				create table if not exists ${table}_${name} partition of ${table} for values ${range}`,
			);
		}
	}
}
