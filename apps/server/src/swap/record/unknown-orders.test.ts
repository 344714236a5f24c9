import { orderToJson } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import {
	postponeUnknownOrders,
	readUnknownOrders,
	readWorthyOrders,
	takeUpUnknownOrders,
} from "./unknown-orders.ts";

const chainId = 100;
const finalAt = 2_000_000_000;
const strangers = 36_000;
let database: TestDatabase;

beforeAll(async () => {
	database = await createTestDatabase();
	const { owner } = database;
	await owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number)
		values ($1, 100, '', $2, 1, 90, $2, 0)`,
		[chainId, finalAt],
	);
	const terms = orderToJson({ ...anyOrder(), originChainId: BigInt(chainId), destinationChainId: 100n });
	// Half of them can still be submitted for the first time.
	await owner.query(
		`insert into unknown_orders (order_id, chain_id, order_terms, open_deadline)
		select decode(md5(i::text) || md5((-i)::text), 'hex'), $1, $2::jsonb, $3 + (i % 2) * 1000 - 500
		from generate_series(1, $4) i`,
		[chainId, JSON.stringify(terms), finalAt, strangers],
	);
	await owner.query("analyze unknown_orders");
});
afterAll(() => database?.drop());

test("only the next few orders are read, delivered ones first, regardless of how many orders third parties open", async () => {
	const { owner } = database;
	const first = await readUnknownOrders(owner, { limit: 100 });
	expect(first).toHaveLength(100);
	const { rows } = await owner.query<{ open_deadline: number }>(
		"select open_deadline from unknown_orders where order_id = any($1)",
		[first.map(({ orderId }) => hexToBytes(orderId))],
	);
	expect(rows.every(({ open_deadline }) => open_deadline < finalAt)).toBe(true);

	// Orders that were checked come last, unless they are delivered.
	await postponeUnknownOrders(owner, first, { nowMs: 1_000 });
	const second = await readUnknownOrders(owner, { limit: 100 });
	const known = new Set(first.map(({ orderId }) => orderId));
	expect(second.filter(({ orderId }) => known.has(orderId))).toEqual([]);
	const delivered = first[7]?.orderId ?? "0x";
	await owner.query(
		`insert into chain_events (chain_id, block_number, log_index, block_hash, transaction_hash, contract, order_id,
			name, data)
		values ($1, 1, 0, '', '', '', $2, 'Filled', '{}')`,
		[chainId, hexToBytes(delivered)],
	);
	await takeUpUnknownOrders(owner, [delivered]);
	const [next] = await readUnknownOrders(owner, { limit: 100 });
	expect(next).toMatchObject({ orderId: delivered, isFilled: true });
});

test("of many orders that wait for their refunds, the most valuable are read first, and of equal ones the oldest", async () => {
	const { owner } = database;
	await owner.query(
		`update unknown_orders set looked_at = now(), value_usd_cents = 100, open_deadline = open_deadline - 1
		where not is_filled and open_deadline < $1`,
		[finalAt],
	);
	await owner.query("analyze unknown_orders");
	const ids = (await readUnknownOrders(owner, { limit: 10 })).filter(({ isFilled }) => !isFilled);
	const [large, oldest] = ids.map(({ orderId }) => orderId);
	if (!large || !oldest) throw new Error("there are orders");
	await owner.query("update unknown_orders set value_usd_cents = 500 where order_id = $1", [
		hexToBytes(large),
	]);
	await owner.query("update unknown_orders set open_deadline = 5 where order_id = $1", [hexToBytes(oldest)]);
	const worthy = await readWorthyOrders(owner, { limit: 100 });
	expect(worthy).toHaveLength(100);
	expect(worthy.slice(0, 2).map(({ orderId }) => orderId)).toEqual([large, oldest]);
});

test("unknown orders are read by indexes, and few rows are fetched", async () => {
	const client = await database.owner.connect();
	const limit = 100;
	try {
		await client.query("begin");
		const before = await rowsRead(client);
		await readUnknownOrders(client, { limit });
		await readWorthyOrders(client, { limit });
		const after = await rowsRead(client);
		expect(after.scanned - before.scanned).toBe(0);
		// Four indexes are read, and a row that another index also has may be skipped.
		expect(after.fetched - before.fetched).toBeGreaterThan(limit);
		expect(after.fetched - before.fetched).toBeLessThanOrEqual(4 * (limit + 1));
	} finally {
		await client.query("rollback");
		client.release();
	}
});

/**
 * Returns how many rows of the table this connection has read. The server also counts earlier transactions of the same
 * connection that it has not added to its statistics yet, so only a difference is meaningful.
 */
async function rowsRead(db: Database): Promise<{ scanned: number; fetched: number }> {
	const { rows } = await db.query<{ scanned: number; fetched: number }>(
		`select seq_tup_read as scanned, idx_tup_fetch as fetched from pg_stat_xact_user_tables
		where relname = 'unknown_orders'`,
	);
	return rows[0] ?? { scanned: 0, fetched: 0 };
}
