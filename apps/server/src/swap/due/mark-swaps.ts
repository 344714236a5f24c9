import type { SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/**
 * Makes swaps due and raises their marks, so that a round that has read one before this is committed leaves it due.
 * Must be called in the transaction that changes the swaps' facts, after their jobs are written, or once that is
 * committed. Does nothing for swaps that have ended.
 */
export async function markOrders(db: Database, orderIds: readonly Hex[]): Promise<void> {
	if (orderIds.length === 0) return;
	await db.query({
		name: "mark-orders",
		text: markWhere("order_id = any($1::bytea[])"),
		values: [orderIds.map((id) => hexToBytes(id))],
	});
}

export async function markSwaps(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query({
		name: "mark-swaps",
		text: markWhere("swap_id = any($1::uuid[])"),
		values: [swapIds],
	});
}

/**
 * Makes every swap that has not ended due, even one without a wait, because the database was restored from a backup and
 * may differ from what it was. Returns how many there are.
 */
export async function markAllDue(db: Database): Promise<number> {
	const { rowCount } = await db.query(
		`insert into waits (swap_id, order_id) select id, order_id from swaps where ended_at is null order by id
		on conflict (swap_id) do update set mark = waits.mark + 1, due_at = least(waits.due_at, now()), failed_rounds = 0`,
	);
	return rowCount ?? 0;
}

/**
 * Returns parts of a statement that mark the swaps which a query lists. The statement changes their jobs, and the query
 * reads what that change returns, so that the jobs are locked before the waits.
 */
export function markListed(swapIds: string): string {
	return `waits_held as materialized (${holdWhere(`swap_id = any(array(${swapIds}))`)}),
		waits_marked as (${raiseMarks("waits_held")})`;
}

function markWhere(condition: string): string {
	return `with held as materialized (${holdWhere(condition)}) ${raiseMarks("held")}`;
}

/** Locks the rows in one order, because an update alone takes them in any. */
function holdWhere(condition: string): string {
	return `select swap_id from waits where ${condition} order by swap_id for update`;
}

function raiseMarks(held: string): string {
	return `update waits w set mark = w.mark + 1, due_at = least(w.due_at, now()) from ${held} h where w.swap_id = h.swap_id`;
}
