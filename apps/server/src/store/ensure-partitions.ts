import { firstSwapUuidAt } from "@geoswap/protocol";
import type { Database } from "./database.ts";

const dayMs = 86_400_000;
const tables = ["swaps", "swap_events"] as const;

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
			await db.query(`create table if not exists ${table}_${name} partition of ${table} for values ${range}`);
		}
	}
}
