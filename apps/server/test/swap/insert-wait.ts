import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../src/database/database.ts";

/** Writes the wait of a swap that is not due for a day. */
export async function insertWait(
	db: Database,
	{ swapId, orderId }: { swapId: string; orderId: Hex },
): Promise<void> {
	await db.query(
		"insert into waits (swap_id, order_id, due_at) values ($1, $2, now() + interval '1 day') on conflict do nothing",
		[swapId, hexToBytes(orderId)],
	);
}
