import {
	type Milliseconds,
	type Order,
	orderSchema,
	type UsdCents,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { type Database, definedRow } from "../../database/database.ts";

export type UnknownOrder = {
	orderId: Hex;
	order: Order;
	/** True if one of our vaults shows, as far as its chain was followed, that its output was delivered. */
	isFilled: boolean;
	/** True if its input was refunded, at a final block. */
	isRefunded: boolean;
	/** The time of the last final block of its origin. */
	originFinalAt: number;
	/** The same for its destination; absent if that chain is not followed. */
	destinationFinalAt?: number;
};

/**
 * Returns orders without a swap that can no longer be submitted for the first time, as of a final block of their chain.
 * Delivered ones come first, then those that were not checked for longest. Only a few times the limit are read,
 * regardless of how many there are.
 */
export function readUnknownOrders(db: Database, { limit }: { limit: number }): Promise<UnknownOrder[]> {
	return readOrders(db, {
		limit,
		next: `(select * from unknown_orders where outcome is null and is_filled order by looked_at nulls first limit $1)
			union all
			select n.* from chain_heads h, lateral (
				select * from unknown_orders
				where chain_id = h.chain_id and outcome is null and looked_at is null and not is_filled
					and open_deadline < h.finalized_timestamp
				order by open_deadline limit $1
			) n
			union all
			(select * from unknown_orders where outcome is null and looked_at is not null and not is_filled
				order by looked_at limit $1)`,
		order: `"isFilled" desc, u.looked_at nulls first, u.open_deadline, u.order_id limit $1`,
	});
}

/**
 * Returns the most valuable of the orders that are worth a refund, and of equal ones the oldest, up to the limit per
 * chain.
 */
export function readWorthyOrders(db: Database, { limit }: { limit: number }): Promise<UnknownOrder[]> {
	return readOrders(db, {
		limit,
		next: `select n.* from chain_heads h, lateral (
				select * from unknown_orders
				where chain_id = h.chain_id and outcome is null and value_usd_cents is not null
				order by value_usd_cents desc, open_deadline limit $1
			) n`,
		order: "u.chain_id, u.value_usd_cents desc, u.open_deadline, u.order_id",
	});
}

async function readOrders(
	db: Database,
	{ limit, next, order }: { limit: number; next: string; order: string },
): Promise<UnknownOrder[]> {
	const { rows } = await db.query<Omit<UnknownOrder, "order"> & { terms: unknown }>(
		`with next as (${next})
		select '0x' || encode(u.order_id, 'hex') as "orderId", u.order_terms as terms,
			exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled') as "isFilled",
			exists (
				select from chain_events e where e.order_id = u.order_id and e.name = 'Refunded'
					and e.chain_id = h.chain_id and e.block_number <= h.finalized_number
			) as "isRefunded",
			h.finalized_timestamp as "originFinalAt", d.finalized_timestamp as "destinationFinalAt"
		from next u join chain_heads h using (chain_id)
			left join chain_heads d on d.chain_id::text = u.order_terms->>'destinationChainId'
		where u.outcome is null and u.open_deadline < h.finalized_timestamp
		order by ${order}`,
		[limit],
	);
	return rows.map(({ terms, ...row }) => definedRow({ ...row, order: orderSchema.parse(terms) }));
}

/** An order about which nothing can be decided yet, and its value if only the budget for refunds holds it up. */
export type PostponedOrder = { orderId: Hex; valueUsdCents?: UsdCents | undefined };

/** Puts orders behind the others. Skips those that another worker has locked, since it decides about them. */
export async function postponeUnknownOrders(
	db: Database,
	orders: readonly PostponedOrder[],
	{ nowMs }: { nowMs: Milliseconds },
): Promise<void> {
	if (orders.length === 0) return;
	await db.query(
		`with held as materialized (
			select order_id from unknown_orders where order_id = any($1::bytea[]) and outcome is null
			order by order_id for update skip locked
		)
		update unknown_orders u set looked_at = to_timestamp($3::double precision / 1000), value_usd_cents = x.value
		from held join unnest($1::bytea[], $2::bigint[]) as x (order_id, value) using (order_id)
		where u.order_id = held.order_id`,
		[
			orders.map(({ orderId }) => Buffer.from(hexToBytes(orderId))),
			orders.map(({ valueUsdCents }) => valueUsdCents ?? null),
			nowMs,
		],
	);
}

/** Writes the outcome of an order, unless another process has decided it meanwhile. */
export async function decideUnknownOrder(
	db: Database,
	orderId: Hex,
	{
		outcome,
		reason,
		nowMs,
	}: { outcome: "rebuilt" | "submitted" | "left"; reason?: string; nowMs: Milliseconds },
): Promise<void> {
	await db.query(
		`update unknown_orders set outcome = $2, reason = $3, looked_at = to_timestamp($4::double precision / 1000)
		where order_id = $1 and outcome is null`,
		[hexToBytes(orderId), outcome, reason ?? null, nowMs],
	);
}

/** Locks the order until the transaction ends. Returns whether it is still undecided. */
export async function lockUnknownOrder(db: Database, orderId: Hex): Promise<boolean> {
	const { rowCount } = await db.query(
		"select from unknown_orders where order_id = $1 and outcome is null for update",
		[hexToBytes(orderId)],
	);
	return rowCount === 1;
}

/** Notes that orders were delivered. They come first, and those that were left to their wallets are checked again. */
export async function takeUpUnknownOrders(db: Database, orderIds: readonly Hex[]): Promise<void> {
	await db.query(takeUpStatement("$1", "true"), [orderIds.map((orderId) => hexToBytes(orderId))]);
}

/** Returns the same as a part of another statement, under a condition. */
export function takeUpStatement(orderIds: `$${string}`, condition: string): string {
	return `update unknown_orders set is_filled = true, outcome = nullif(outcome, 'left'),
			reason = case when outcome = 'left' then null else reason end,
			looked_at = case when outcome = 'left' then null else looked_at end
		where order_id = any(${orderIds}::bytea[]) and (not is_filled or outcome = 'left') and ${condition}`;
}

/** An escrow takes no order whose wallet could not call `refund()` within three days of its opening. */
const refundableWithinSeconds = 3 * 86_400;

/** Deletes orders that were left to their wallets, once these could have reclaimed their input for a day. */
export async function forgetLeftOrders(db: Database): Promise<void> {
	await db.query(
		`delete from unknown_orders u using chain_heads h
		where h.chain_id = u.chain_id and u.outcome = 'left' and u.open_deadline + $1 < h.finalized_timestamp
			and not exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled')`,
		[refundableWithinSeconds + 86_400],
	);
}

/** Notes which of the orders that were opened in blocks that became final have no swap. */
export async function noteUnknownOrders(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	// The swap is looked up by the id in the order's `swapKey`, so that one day's partition is read and not all of them.
	const { rows } = await db.query<{ order_id: Buffer; order_terms: unknown }>(
		`select e.order_id, e.data->'order' as order_terms from chain_events e
		where e.chain_id = $1 and e.block_number > $2 and e.block_number <= $3 and e.name = 'Opened' and not exists (
			select from swaps s
			where s.id = right(e.data->'order'->>'swapKey', 32)::uuid and s.order_id = e.order_id
		)`,
		[chainId, after, upTo],
	);
	await insertUnknownOrders(db, {
		chainId,
		orders: rows.map(({ order_id, order_terms }) => ({ orderId: order_id, terms: order_terms })),
	});
}

/** Returns those of these orders that have neither a swap nor an entry as unknown. */
export async function withoutSwaps(db: Database, orderIds: readonly Hex[]): Promise<Set<Hex>> {
	if (orderIds.length === 0) return new Set();
	const { rows } = await db.query<{ order_id: Hex }>(
		`select '0x' || encode(o.id, 'hex') as order_id from unnest($1::bytea[]) as o (id)
		where not exists (select from swaps where order_id = o.id)
			and not exists (select from unknown_orders where order_id = o.id)`,
		[orderIds.map((orderId) => hexToBytes(orderId))],
	);
	return new Set(rows.map((row) => row.order_id));
}

/** Notes orders that have no swap. Those that are noted already stay as they are. */
export async function insertUnknownOrders(
	db: Database,
	{
		chainId,
		orders,
	}: { chainId: number; orders: readonly { orderId: Uint8Array /** As JSON. */; terms: unknown }[] },
): Promise<void> {
	if (orders.length === 0) return;
	await db.query(
		`insert into unknown_orders (order_id, chain_id, order_terms, open_deadline, is_filled)
		select order_id, $1, order_terms, open_deadline,
			exists (select from chain_events e where e.order_id = o.order_id and e.name = 'Filled')
		from unnest($2::bytea[], $3::jsonb[], $4::bigint[]) as o (order_id, order_terms, open_deadline)
		on conflict do nothing`,
		[
			chainId,
			orders.map(({ orderId }) => orderId),
			orders.map(({ terms }) => JSON.stringify(terms)),
			orders.map(({ terms }) => unpackDeadlines(orderSchema.parse(terms).deadlines).openDeadline),
		],
	);
}
