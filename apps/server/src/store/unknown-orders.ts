import { type Order, orderSchema } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";

export type UnknownOrder = {
	orderId: Hex;
	order: Order;
	/** Whether one of our vaults says, as far as its chain was followed, that its output was delivered. */
	isFilled: boolean;
	/** Whether its input went back, at a final block. */
	isRefunded: boolean;
	/** The time of the last final block of its origin. */
	originFinalAt: number;
	/** The same of its destination; absent where that is not followed. */
	destinationFinalAt?: number;
};

/**
 * Orders without a swap that nobody can submit for the first time any more, at a final block of their chain; those
 * first that were delivered, then those that were not looked at for longest.
 */
export async function readUnknownOrders(db: Database, { limit }: { limit: number }): Promise<UnknownOrder[]> {
	const { rows } = await db.query<{
		order_id: Buffer;
		order_terms: unknown;
		is_filled: boolean;
		is_refunded: boolean;
		origin_final_at: number;
		destination_final_at: number | null;
	}>(
		`select u.order_id, u.order_terms,
			exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled') as is_filled,
			exists (
				select from chain_events e where e.order_id = u.order_id and e.name = 'Refunded'
					and e.chain_id = h.chain_id and e.block_number <= h.finalized_number
			) as is_refunded,
			h.finalized_timestamp as origin_final_at, d.finalized_timestamp as destination_final_at
		from unknown_orders u join chain_heads h using (chain_id)
			left join chain_heads d on d.chain_id::text = u.order_terms->>'destinationChainId'
		where u.outcome is null and u.open_deadline < h.finalized_timestamp
		order by is_filled desc, u.looked_at nulls first, u.open_deadline, u.order_id limit $1`,
		[limit],
	);
	return rows.map((row) => ({
		orderId: bytesToHex(row.order_id),
		order: orderSchema.parse(row.order_terms),
		isFilled: row.is_filled,
		isRefunded: row.is_refunded,
		originFinalAt: row.origin_final_at,
		...(row.destination_final_at !== null && { destinationFinalAt: row.destination_final_at }),
	}));
}

/** Nothing can be said about it yet: others come first now. */
export async function postponeUnknownOrder(
	db: Database,
	orderId: Hex,
	{ nowMs }: { nowMs: number },
): Promise<void> {
	await db.query(
		`update unknown_orders set looked_at = to_timestamp($2::double precision / 1000)
		where order_id = $1 and outcome is null`,
		[hexToBytes(orderId), nowMs],
	);
}

/** What became of it. What another has decided meanwhile stays. */
export async function decideUnknownOrder(
	db: Database,
	orderId: Hex,
	{ outcome, reason, nowMs }: { outcome: "rebuilt" | "submitted" | "left"; reason?: string; nowMs: number },
): Promise<void> {
	await db.query(
		`update unknown_orders set outcome = $2, reason = $3, looked_at = to_timestamp($4::double precision / 1000)
		where order_id = $1 and outcome is null`,
		[hexToBytes(orderId), outcome, reason ?? null, nowMs],
	);
}

/** Holds the order until the transaction ends. Returns whether it is still undecided. */
export async function lockUnknownOrder(db: Database, orderId: Hex): Promise<boolean> {
	const { rowCount } = await db.query(
		"select from unknown_orders where order_id = $1 and outcome is null for update",
		[hexToBytes(orderId)],
	);
	return rowCount === 1;
}

/** These were delivered: the ones that were left to their wallets are to be looked at again. */
export async function takeUpUnknownOrders(db: Database, orderIds: readonly Hex[]): Promise<void> {
	await db.query(
		`update unknown_orders set outcome = null, reason = null, looked_at = null
		where order_id = any($1::bytea[]) and outcome = 'left'`,
		[orderIds.map((orderId) => hexToBytes(orderId))],
	);
}

/** How many were rebuilt since then for this reason. */
export async function countRebuilt(
	db: Database,
	{ reason, sinceMs }: { reason: string; sinceMs: number },
): Promise<number> {
	const { rows } = await db.query<{ count: number }>(
		`select count(*)::int as count from unknown_orders
		where outcome = 'rebuilt' and reason = $1 and looked_at > to_timestamp($2::double precision / 1000)`,
		[reason, sinceMs],
	);
	return rows[0]?.count ?? 0;
}

/** An escrow takes no order whose wallet could not call `refund()` within three days of its opening. */
const refundableWithinSeconds = 3 * 86_400;

/** Deletes those that were left to their wallets, once these could have had their input back for a day. */
export async function forgetLeftOrders(db: Database): Promise<void> {
	await db.query(
		`delete from unknown_orders u using chain_heads h
		where h.chain_id = u.chain_id and u.outcome = 'left' and u.open_deadline + $1 < h.finalized_timestamp
			and not exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled')`,
		[refundableWithinSeconds + 86_400],
	);
}
