import { isSolana, nativeTokenOf, type Order, orderId, orderSchema, type Wei } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes, zeroAddress } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { bookLoss } from "./book-loss.ts";
import { type BookedEvent, bookedEventNames, type Entry, eventEntries } from "./event-entries.ts";
import { type Posting, post } from "./post.ts";
import { readRelayers } from "./relayers.ts";

export type GasSpent = { hash: Hex; blockNumber: number; gasCost: Wei };

/**
 * Books the events, and the gas of our transactions, in blocks that became final. Returns what was booked, and what could
 * not be. The caller records how far the books go.
 */
export async function bookFinal(
	db: Database,
	{
		chainId,
		after,
		upTo,
		gas,
		vaults,
		assets,
	}: {
		chainId: number;
		after: number;
		upTo: number;
		/** The gas of our transactions that became final. */
		gas: readonly GasSpent[];
		vaults: readonly Hex[];
		/** The tokens that the service offers on the chain. */
		assets: readonly Hex[];
	},
): Promise<{ unbooked: string[]; booked: Posting[] }> {
	const { rows } = await db.query<EventRow>(
		`select e.block_number, e.block_hash, e.log_index, e.transaction_hash, e.order_id, e.name, e.data,
			(select o.data->'order' from chain_events o where o.order_id = e.order_id and o.name = 'Opened' limit 1)
				as order_terms,
			exists (select from chain_events f where f.order_id = e.order_id and f.name = 'Filled') as is_delivered
		from chain_events e
		where e.chain_id = $1 and e.block_number > $2 and e.block_number <= $3 and e.name = any($4)
		order by e.block_number, e.log_index`,
		[chainId, after, upTo, bookedEventNames],
	);
	const orders = await readOrders(db, rows);
	const hasPayee = rows.some(({ name }) => name === "Sent" || name === "Withdrawn");
	const relayers = hasPayee ? await readRelayers(db, chainId) : [];
	const unbooked: string[] = [];
	const postings = rows.map((row): Posting => {
		const orderId = row.order_id ? bytesToHex(row.order_id) : undefined;
		const key = eventKey(chainId, row);
		const order = orderId && orders.get(orderId);
		const entries = eventEntries(row as unknown as BookedEvent, {
			order: order || undefined,
			vaults,
			relayers,
			assets,
			native: nativeTokenOf(chainId),
			isDelivered: row.is_delivered,
		});
		if (!entries) unbooked.push(key);
		return { key, chainId, blockNumber: row.block_number, name: row.name, orderId, entries: entries ?? [] };
	});
	postings.push(...gas.map((spent) => gasPosting(chainId, spent)));
	const booked = await post(db, postings);
	const opened = rows.flatMap(({ name, order_id }) => (name === "Opened" && order_id ? [order_id] : []));
	await bookKnownFills(
		db,
		opened.flatMap((id) => orders.get(bytesToHex(id)) ?? []),
	);
	await bookForgottenFills(db, rows);
	return { unbooked, booked };
}

/**
 * Books as lost the deliveries for orders that were never opened, and whose swaps have ended as failed, because a
 * restored store lacked their transactions, which landed late.
 */
async function bookForgottenFills(db: Database, events: readonly EventRow[]): Promise<void> {
	const filled = events.flatMap(({ name, order_id, order_terms }) =>
		name === "Filled" && order_id && !order_terms ? [order_id] : [],
	);
	if (filled.length === 0) return;
	const { rows } = await db.query<Row<"swaps", "order_terms">>(
		"select order_terms from swaps where order_id = any($1) and status = 'failed' order by order_id",
		[filled],
	);
	for (const { order_terms } of rows) await bookLoss(db, orderSchema.parse(order_terms));
}

/**
 * Returns an event's key. On Solana it names the transaction, which lands once, because the index in a slot is our own.
 */
function eventKey(chainId: number, row: EventRow): string {
	if (!isSolana(chainId)) return `${chainId}:${bytesToHex(row.block_hash)}:${row.log_index}`;
	const key = `${chainId}:${bytesToHex(row.transaction_hash)}:${row.name}`;
	// One transaction can close many accounts, and a stranger's can decide many orders.
	if (row.name === "RentReturned") return `${key}:${row.data.address}`;
	return row.order_id ? `${key}:${bytesToHex(row.order_id)}` : key;
}

type EventRow = Row<
	"chain_events",
	"block_number" | "block_hash" | "log_index" | "transaction_hash" | "order_id" | "name"
> & { data: { address?: Hex }; order_terms: unknown; is_delivered: boolean };

/** Reads each order from the event that opened it, or from the swap if following began later than that. */
async function readOrders(db: Database, rows: readonly EventRow[]): Promise<Map<Hex, Order>> {
	const orders = new Map<Hex, Order>();
	const missing: Buffer[] = [];
	for (const { order_id, order_terms } of rows) {
		if (!order_id) continue;
		if (order_terms) orders.set(bytesToHex(order_id), orderSchema.parse(order_terms));
		else missing.push(order_id);
	}
	if (missing.length > 0) {
		const { rows: swaps } = await db.query<Row<"swaps", "order_id" | "order_terms">>(
			"select order_id, order_terms from swaps where order_id = any($1)",
			[missing],
		);
		for (const swap of swaps) orders.set(bytesToHex(swap.order_id), orderSchema.parse(swap.order_terms));
	}
	return orders;
}

function gasPosting(chainId: number, { hash, blockNumber, gasCost }: GasSpent): Posting {
	const token = nativeTokenOf(chainId);
	return {
		key: `${chainId}:gas:${hash}`,
		chainId,
		blockNumber,
		name: "gas",
		orderId: undefined,
		entries: [
			{ account: "gas", token, amount: gasCost },
			{ account: "relayer", token, amount: -gasCost },
		],
	};
}

type FillRow = Row<"postings", "key" | "chain_id" | "block_number"> & { order_id: Buffer; data: object };

/**
 * Books the rest of deliveries that were booked while their order was unknown. A follower that catches up, as after a
 * restore, may read a delivery before the deposit on another chain. What left the inventory was then booked to
 * `trading`.
 */
async function bookKnownFills(db: Database, orders: readonly Order[]): Promise<void> {
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
	const context = { vaults: [], relayers: [], assets: [], native: zeroAddress, isDelivered: true };
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
