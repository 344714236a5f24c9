import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** What wakes the workflows of these swaps. */
export async function readSignals(db: Database, swapIds: readonly SwapUuid[]): Promise<string[]> {
	const { rows } = await db.query<{ signal_id: string }>(
		"select signal_id from waits where swap_id = any($1)",
		[swapIds],
	);
	return rows.map((row) => row.signal_id);
}
