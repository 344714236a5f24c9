import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSwapScene, originId } from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { readUnsettledGas, recordUnsettledGas } from "./unsettled-gas.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a swap that is not settled costs its account its share of each transaction, once", async () => {
	const { pool } = database;
	const [scene, other] = [await createSwapScene(pool), await createSwapScene(pool)];
	let nonce = 0;
	const spend = (swapIds: string[], gasCost: number | null) =>
		pool.query(
			`insert into lane_transactions values ($1, '', $2, 0, $3, '', 'open', $4, 0, 'final', 0, 1, $5)`,
			[originId, ++nonce, randomBytes(32), JSON.stringify(swapIds.map((swapId) => ({ swapId }))), gasCost],
		);
	// The first two did not open it: they cost what they cost.
	await spend([scene.uuid, other.uuid], 1_001);
	await spend([scene.uuid], 70);
	await spend([scene.uuid], null);
	await spend([other.uuid], 5_000);
	const nowMs = Date.now();
	const { rows } = await pool.query("select account_id from swaps where id = $1", [scene.uuid]);
	const accountId: string = rows[0].account_id;
	const record = () => recordUnsettledGas(pool, { swapId: scene.uuid, nowMs });
	const read = (afterMs: number) => readUnsettledGas(pool, { accountId, nowMs: nowMs + afterMs });

	await record();
	expect((await read(0)).spent).toEqual([]);
	await pool.query("update swaps set status = 'refunded' where id = $1", [scene.uuid]);
	await record();
	await record();
	expect(await read(3_600_000)).toEqual({
		spent: [{ chainId: originId, wei: 571n }],
		retryAfterSeconds: 23 * 3_600,
	});
	expect((await read(24 * 3_600_000)).spent).toEqual([]);
});
