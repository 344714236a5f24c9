import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId, token } from "../../test/swap/swap-scene.ts";
import { openDatabase } from "../database/database.ts";
import { readVitals } from "./read-vitals.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("inventory, value at risk, heads, heartbeats, jobs and gas are read back with the written values", async () => {
	const { pool } = database;
	const { uuid, orderId, clock } = await createSwapScene(pool, { isReserved: false });
	const nowMs = Date.now();
	await pool.query("insert into inventory values ($1, $2, 1000, 900, 100, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await pool.query("insert into exposures values ($1, $2, $3, '\\x5e', 4000, false)", [
		uuid,
		hexToBytes(orderId),
		originId,
	]);
	await pool.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority, updated_at)
		values ($1, 'fill', $2, $3, '{}', 'queued', 3, to_timestamp($4)), ($1, 'open', $2, $3, '{}', 'done', 3, now())`,
		[uuid, destinationId, hexToBytes(orderId), nowMs / 1_000 - 30],
	);
	await pool.query("insert into unsettled_gas values ($1, $2, $1, now(), 7)", [uuid, originId]);
	await pool.query("insert into unsettled_gas values ($1, $2, $1, now() - interval '2 days', 5)", [
		uuid,
		destinationId,
	]);
	await pool.query(
		`with posted as (
			insert into postings (key, chain_id, block_number, name) values ('loss:1', $1, 1, 'loss') returning id
		)
		insert into entries select id, account, $1, $2, amount
		from posted, (values ('loss', 30), ('recipient', -30)) as entry (account, amount)`,
		[destinationId, hexToBytes(token)],
	);
	const vitals = await readVitals(pool, { nowMs });
	expect(vitals.inventory).toEqual([
		{ chainId: destinationId, token, balance: 1_000n, outflowAvailable: 900n, reserved: 100n },
	]);
	expect(vitals.exposure).toEqual([
		{ chainId: originId, unreleasedUsdCents: 4_000n, unfinalUsdCents: 4_000n },
	]);
	expect(vitals.heads).toHaveLength(2);
	expect(vitals.heads[0]).toMatchObject({ unfinalBlocks: 3 });
	expect(vitals.heads[0]?.blockSecondsAgo).toBeCloseTo(nowMs / 1_000 - Math.floor(clock.nowMs / 1_000), 3);
	expect(vitals.heads[0]?.finalSecondsAgo).toBeGreaterThan(vitals.heads[0]?.blockSecondsAgo ?? 0);
	expect(vitals.losses).toEqual([{ chainId: destinationId, token, amount: 30n }]);
	expect(vitals.heartbeats).toHaveLength(4);
	expect(vitals.jobs).toMatchObject([{ chainId: destinationId, kind: "fill", state: "queued", count: 1 }]);
	expect(vitals.jobs[0]?.oldestSeconds).toBeCloseTo(30, 0);
	expect(vitals.unsettledGas).toEqual([{ chainId: originId, wei: 7n }]);
});

test("stuck, late and failed moves are counted by chain, and those that are over or of the operator are not", async () => {
	const nowMs = Date.now();
	const add = (
		state: string,
		more: { late?: number; problem?: string; kind?: string; updated?: number } = {},
	) =>
		database.owner.query(
			`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, move_id, reason, made_by, state,
				due_at, problem, updated_at)
			select id, $2, $1, '', 1, '', sha256(id::text::bytea),
				case when $2 = 'send' then sha256(id::text::bytea) end, 'a test', 'worker', $3,
				to_timestamp($4), $5, to_timestamp($6) from gen_random_uuid() as id`,
			[
				originId,
				more.kind ?? "send",
				state,
				nowMs / 1_000 - (more.late ?? -60),
				more.problem ?? null,
				nowMs / 1_000 - (more.updated ?? 0),
			],
		);
	expect((await readVitals(database.pool, { nowMs })).moves).toEqual([]);
	await add("sent");
	await add("final", { late: 9_000 });
	await add("queued", { kind: "deposit", late: 9_000 });
	await add("cancelled", { late: 9_000 });
	await add("failed", { problem: "TooLittleReceived", updated: 3_700 });
	const quiet = { chainId: originId, stuck: 0, lateSeconds: 0, failed: 0 };
	expect((await readVitals(database.pool, { nowMs })).moves).toEqual([quiet]);

	await add("stuck", { late: 30, problem: "it is late" });
	await add("moved", { late: 100 });
	await add("failed", { problem: "TooLittleReceived" });
	await add("cancelled", { problem: "no lane signed it in time" });
	const [moves] = (await readVitals(database.pool, { nowMs })).moves;
	expect(moves).toMatchObject({ chainId: originId, stuck: 1, failed: 2 });
	expect(moves?.lateSeconds).toBeCloseTo(100, 1);
});

test("a blocked database is an error after the statement timeout", async () => {
	const blocker = await database.owner.connect();
	const impatient = openDatabase({ url: database.url, applicationName: "test", statementTimeoutMs: 300 });
	try {
		await blocker.query("begin; lock table inventory in access exclusive mode");
		await expect(readVitals(impatient, { nowMs: Date.now() })).rejects.toThrow("statement timeout");
	} finally {
		await blocker.query("rollback");
		blocker.release();
		await impatient.end();
	}
});
