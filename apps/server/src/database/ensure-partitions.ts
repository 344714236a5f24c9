import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "./database.ts";

const dayMs = 86_400_000;
const tables = ["swaps", "swap_events"] as const;

/**
 * Creates a partition for each day from yesterday to `daysAhead` from now, if there is none. An id is made at quote
 * time, so a day's partition is needed from its first millisecond on. A week is enough for a worker that is down over a
 * weekend.
 */
export async function ensurePartitions(
	db: Database,
	{ nowMs, daysAhead = 7 }: { nowMs: Milliseconds; daysAhead?: number },
): Promise<void> {
	const today = Math.floor(nowMs / dayMs);
	for (let day = today - 1; day <= today + daysAhead; day++) {
		const date = new Date(day * dayMs).toISOString().slice(0, 10);
		// Each partition gets a separate transaction, because creating one locks its whole table until the transaction
		// ends.
		for (const table of tables) await db.query("select ensure_partition($1, $2)", [table, date]);
	}
}
