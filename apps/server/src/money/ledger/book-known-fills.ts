import { type Order, orderId } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { type BookedEvent, type Entry, eventEntries } from "./event-entries.ts";
import { type Posting, post } from "./post.ts";

type FillRow = Row<"postings", "key" | "chain_id" | "block_number"> & { order_id: Buffer; data: object };

/**
 * Books the rest of deliveries that were booked while their order was unknown. A follower that catches up, as after a
 * restore, may read a delivery before the deposit on another chain. What left the inventory was then booked to
 * `trading`.
 */
export async function bookKnownFills(db: Database, orders: readonly Order[]): Promise<void> {
	if (orders.length === 0) return;
	const known = new Map<Hex, Order>(orders.map((order) => [orderId(order), order]));
	const { rows } = await db.query<FillRow>(
		`select p.key, p.chain_id, p.block_number, e.order_id, e.data from chain_events e
		join postings p on p.key = e.chain_id || ':0x' || encode(e.block_hash, 'hex') || ':' || e.log_index
		where e.order_id = any($1) and e.name = 'Filled'
			and not exists (select from entries where posting_id = p.id and account = 'recipient')`,
		[[...known.keys()].map((id) => hexToBytes(id))],
	);
	// The amount that left the inventory is the same on both sides, and cancels out under any account.
	const context = { vaults: [], assets: [], isDelivered: true };
	await post(
		db,
		rows.map((row): Posting => {
			const id = bytesToHex(row.order_id);
			const event = { name: "Filled", data: row.data } as BookedEvent;
			const booked = eventEntries(event, { ...context, order: undefined }) ?? [];
			const entries = eventEntries(event, { ...context, order: known.get(id) }) ?? [];
			return {
				key: `${row.key}:known`,
				chainId: row.chain_id,
				blockNumber: row.block_number,
				name: "Filled",
				orderId: id,
				entries: difference(entries, booked),
			};
		}),
	);
}

/** Returns the entries that must be added to `booked` to get `wanted`. */
function difference(wanted: readonly Entry[], booked: readonly Entry[]): Entry[] {
	const sums = new Map<string, Entry>();
	for (const [entries, sign] of [
		[wanted, 1n],
		[booked, -1n],
	] as const) {
		for (const entry of entries) {
			const key = `${entry.account}:${entry.token.toLowerCase()}`;
			sums.set(key, { ...entry, amount: (sums.get(key)?.amount ?? 0n) + sign * entry.amount });
		}
	}
	return [...sums.values()].filter(({ amount }) => amount !== 0n);
}
