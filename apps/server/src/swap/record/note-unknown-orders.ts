import { orderSchema, unpackDeadlines } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

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
