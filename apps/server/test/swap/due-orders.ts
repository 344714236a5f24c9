import { fromSwapKey, type Order, orderId, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../src/database/database.ts";
import { readDueSwaps } from "../../src/swap/due/due-swaps.ts";

/** Makes an order's swap wait for any event, as after a round that has just handled it. */
export async function waitForOrder(db: Database, order: Order): Promise<void> {
	await db.query(
		`insert into waits (swap_id, order_id, due_at) values ($1, $2, 'infinity')
		on conflict (swap_id) do update set due_at = 'infinity'`,
		[fromSwapKey(order.swapKey), hexToBytes(orderId(order))],
	);
}

/** Returns the swaps that are due, with their orders, and removes their waits. */
export async function takeDue(db: Database): Promise<{ swapIds: SwapUuid[]; orderIds: Hex[] }> {
	const { swapIds } = await readDueSwaps(db, { limit: 100, except: [] });
	const { rows } = await db.query<{ order_id: Buffer }>(
		"delete from waits where swap_id = any($1::uuid[]) returning order_id",
		[swapIds],
	);
	return { swapIds, orderIds: rows.map((row) => bytesToHex(row.order_id)) };
}
