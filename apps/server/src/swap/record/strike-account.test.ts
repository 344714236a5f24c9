import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readStrikes } from "../../../test/api/read-strikes.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createSwapScene, type SwapScene } from "../../../test/swap/swap-scene.ts";
import { strikeAccount } from "./strike-account.ts";

const dayMs = 86_400_000;

let database: TestDatabase;
let scene: SwapScene;
let accountId: string;
beforeAll(async () => {
	database = await createTestDatabase();
});
beforeEach(async () => {
	scene = await createSwapScene(database.pool);
	accountId = randomUUID();
	await database.pool.query("update swaps set account_id = $2 where id = $1", [scene.uuid, accountId]);
});
afterAll(() => database.drop());

function strike(nowMs: number) {
	return strikeAccount(database.pool, { swapId: scene.uuid, reason: "recipient_refused", nowMs });
}

test("a swap strikes its account once, and the strike expires after a day", async () => {
	const struckAtMs = scene.clock.nowMs;
	const strikesAt = (nowMs: number) => readStrikes(database.pool, { accountId, nowMs });
	expect(await strikesAt(struckAtMs)).toMatchObject({ count: 0 });
	await strike(struckAtMs);
	await strike(struckAtMs + 1_000);
	expect(await strikesAt(struckAtMs + 60_000)).toEqual({ count: 1, retryAfterSeconds: 86_400 - 60 });
	expect(await strikesAt(struckAtMs + dayMs)).toMatchObject({ count: 0 });
});

test("an account's next strike deletes those that have expired", async () => {
	await strike(scene.clock.nowMs);
	const next = await createSwapScene(database.pool);
	await database.pool.query("update swaps set account_id = $2 where id = $1", [next.uuid, accountId]);
	const nowMs = scene.clock.nowMs + dayMs;
	await strikeAccount(database.pool, { swapId: next.uuid, reason: "recipient_account_gone", nowMs });
	const { rows } = await database.pool.query(
		"select swap_id, reason from account_strikes where account_id = $1",
		[accountId],
	);
	expect(rows).toEqual([{ swap_id: next.uuid, reason: "recipient_account_gone" }]);
});

test("a swap without an account strikes nobody", async () => {
	await database.pool.query("update swaps set account_id = null where id = $1", [scene.uuid]);
	await strike(scene.clock.nowMs);
	const { rowCount } = await database.pool.query("select from account_strikes where swap_id = $1", [
		scene.uuid,
	]);
	expect(rowCount).toBe(0);
});
