import { type Order, orderSchema } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";

export type UnknownOrder = {
	orderId: Hex;
	order: Order;
	/** Whether one of our vaults on an EVM chain says that its output was delivered. */
	isFilled: boolean;
};

/**
 * Orders without a swap that nobody can submit for the first time any more, at a final block of their chain; those
 * first that were not looked at for longest.
 */
export async function readUnknownOrders(db: Database, { limit }: { limit: number }): Promise<UnknownOrder[]> {
	const { rows } = await db.query<{ order_id: Buffer; order_terms: unknown; is_filled: boolean }>(
		`select u.order_id, u.order_terms,
			exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled') as is_filled
		from unknown_orders u join chain_heads h using (chain_id)
		where u.outcome is null and u.open_deadline < h.finalized_timestamp
		order by u.looked_at nulls first, u.open_deadline, u.order_id limit $1`,
		[limit],
	);
	return rows.map(({ order_id, order_terms, is_filled }) => ({
		orderId: bytesToHex(order_id),
		order: orderSchema.parse(order_terms),
		isFilled: is_filled,
	}));
}

/** Nothing can be said about it yet: others come first now. */
export async function postponeUnknownOrder(
	db: Database,
	orderId: Hex,
	{ nowMs }: { nowMs: number },
): Promise<void> {
	await db.query(
		"update unknown_orders set looked_at = to_timestamp($2::double precision / 1000) where order_id = $1",
		[hexToBytes(orderId), nowMs],
	);
}

/** What became of it, for good. */
export async function decideUnknownOrder(
	db: Database,
	orderId: Hex,
	{ outcome, reason, nowMs }: { outcome: "rebuilt" | "submitted" | "left"; reason?: string; nowMs: number },
): Promise<void> {
	await db.query(
		`update unknown_orders set outcome = $2, reason = $3, looked_at = to_timestamp($4::double precision / 1000)
		where order_id = $1`,
		[hexToBytes(orderId), outcome, reason ?? null, nowMs],
	);
}
