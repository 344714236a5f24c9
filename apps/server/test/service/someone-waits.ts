import { setTimeout as sleep } from "node:timers/promises";
import type { DatabasePool } from "../../src/database/database.ts";

/** Waits until one connection to this database waits for a lock that another connection holds. */
export async function someoneWaits(pool: DatabasePool): Promise<void> {
	while (true) {
		const { rows } = await pool.query(
			"select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
		);
		if (rows.length > 0) return;
		await sleep(5);
	}
}
