import { randomUUID } from "node:crypto";
import type { SwapUuid } from "@geoswap/protocol";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { insertTestSwap, moveTestSwap } from "../../../test/swap/insert-test-swap.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { pruneEvents, publishEvents } from "./publish-events.ts";
import { readEventHead, readEventRows, readEventSwaps } from "./read-events.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.owner.query("delete from event_outbox; delete from events"));

const accountId = randomUUID();

const insertSwap = (account: string | null = accountId) =>
	insertTestSwap(database.owner, { accountId: account });
const move = (uuid: SwapUuid, to: string, db: Database = database.pool) => moveTestSwap(db, uuid, to);

const seen = async (after = 0, limit = 100) => {
	const rows = await readEventRows(database.pools.api, { accountId, after, upTo: 2 ** 53 - 1, limit });
	return rows.map(({ position, swap_id, stage, status }) => ({ position, swap_id, stage, status }));
};

test("each change of a swap's status or stage is one event, with the swap's state at that time", async () => {
	const uuid = await insertSwap();
	await database.pool.query("update swaps set origin_tx_hash = $2, stage = stage where id = $1", [
		uuid,
		Buffer.alloc(32, 7),
	]);
	await move(uuid, "deposited");
	await move(uuid, "delivering");
	await move(uuid, "settled");
	expect(await seen()).toEqual([]);
	expect(await publishEvents(database.pool)).toBe(4);
	const head = await readEventHead(database.pools.api);
	const rows = await readEventRows(database.pools.api, {
		swapId: uuid,
		after: 0,
		upTo: head.position,
		limit: 9,
	});
	const events = await readEventSwaps(database.pools.api, rows);
	expect(events.map(({ number, swap: { stage, status } }) => [number, stage, status])).toEqual([
		[1, "opening", "pending"],
		[2, "deposited", "pending"],
		[3, "delivering", "pending"],
		[4, "delivering", "settled"],
	]);
	expect(events.map(({ swap }) => swap.originTxHash !== undefined)).toEqual([false, true, true, true]);
	expect(events.map(({ swap }) => swap.order.inputAmount)).toEqual([9n, 9n, 9n, 9n]);
});

test("an event is written only if its change is committed", async () => {
	const uuid = await insertSwap();
	await publishEvents(database.pool);
	await inTransaction(database.pool, async (db) => {
		await move(uuid, "deposited", db);
		throw new Error("rolled back");
	}).catch(() => {});
	expect(await publishEvents(database.pool)).toBe(0);
});

test("an event that is committed after a later one is not missed by a reader that has read the later one", async () => {
	const [slow, quick] = [await insertSwap(), await insertSwap()];
	await publishEvents(database.pool);
	const { position: start } = await readEventHead(database.pool);
	const client = await database.pool.connect();
	try {
		await client.query("begin");
		await move(slow, "deposited", client);
		await move(quick, "deposited");
		expect(await publishEvents(database.pool)).toBe(1);
		expect(await seen(start)).toMatchObject([{ swap_id: quick, position: start + 1 }]);
		await client.query("commit");
	} finally {
		client.release();
	}
	expect(await publishEvents(database.pool)).toBe(1);
	expect(await seen(start + 1)).toMatchObject([{ swap_id: slow, position: start + 2 }]);
});

test("with concurrent publishers and writers, positions have no gap, and a reader behind them reads every event in order", async () => {
	const uuids = await Promise.all(Array.from({ length: 8 }, () => insertSwap()));
	const path = ["deposited", "delivering", "refunding", "refunded"];
	const { position: start } = await readEventHead(database.pool);
	let isDone = false;
	const got: Awaited<ReturnType<typeof seen>> = [];
	const publish = async () => {
		while (!isDone) await publishEvents(database.pool, { limit: 3 });
	};
	const read = async () => {
		while (got.length < uuids.length * 5) got.push(...(await seen(got.at(-1)?.position ?? start, 2)));
	};
	const publishers = [publish(), publish()];
	const reading = read();
	await Promise.all(
		uuids.map(async (uuid) => {
			for (const to of path) await move(uuid, to);
		}),
	);
	await reading;
	isDone = true;
	await Promise.all(publishers);
	expect(got.map(({ position }) => position)).toEqual(got.map((_, i) => start + i + 1));
	for (const uuid of uuids) {
		const ofSwap = got.filter(({ swap_id }) => swap_id === uuid);
		expect(ofSwap.map(({ stage, status }) => (status === "pending" ? stage : status))).toEqual([
			"opening",
			...path,
		]);
	}
});

test("a swap without an account has no events until it is assigned to an account", async () => {
	const uuid = await insertSwap(null);
	await move(uuid, "deposited");
	expect(await publishEvents(database.pool)).toBe(0);
	await database.pools.api.query("update swaps set account_id = $2 where id = $1", [uuid, accountId]);
	expect(await publishEvents(database.pool)).toBe(1);
	expect(await seen()).toMatchObject([{ swap_id: uuid, stage: "deposited" }]);
});

test("events older than the retention are deleted in batches, and the head has the position up to which they are deleted", async () => {
	const uuid = await insertSwap();
	await move(uuid, "deposited");
	await publishEvents(database.pool);
	const { position } = await readEventHead(database.pool);
	const old = { retentionMs: 1_000, nowMs: Date.now() + 60_000, limit: 1 };
	expect(await pruneEvents(database.pool, { ...old, nowMs: Date.now() - 60_000 })).toBe(0);
	expect(await pruneEvents(database.pool, old)).toBe(1);
	expect(await readEventHead(database.pool)).toMatchObject({ position, pruned: position - 1 });
	expect(await pruneEvents(database.pool, old)).toBe(1);
	expect(await pruneEvents(database.pool, old)).toBe(0);
	expect(await readEventHead(database.pool)).toMatchObject({ position, pruned: position });
	await move(uuid, "delivering");
	await publishEvents(database.pool);
	expect(await seen()).toMatchObject([{ position: position + 1 }]);
});

test.each([
	["makes up an event", "insert into event_outbox (number) values (1)"],
	["deletes an event", "delete from events"],
	["moves the head", "update event_head set position = 0"],
])("a compromised API is refused when it %s", async (_, sql) => {
	await expect(database.pools.api.query(sql)).rejects.toThrow("permission denied");
});
