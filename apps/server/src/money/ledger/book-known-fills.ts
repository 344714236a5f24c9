import { type Order, orderId } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { type BookedEvent, type Entry, eventEntries } from "./event-entries.ts";
import { type Posting, post } from "./post.ts";

type FillRow = {
	key: string;
	chain_id: number;
	block_number: number;
	order_id: Buffer;
	data: object;
};

/**
 * Books the rest of deliveries that were booked while nobody knew their order: a follower that catches up, as after a
 * restore, may see a delivery before the deposit on another chain. What left the stock then went to `trading`.
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
	// What left the stock is the same on both sides, and cancels out under whichever account it is.
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

/** What is to be added to the second to come to the first. */
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
