import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readRefusals } from "../../../test/api/read-refusals.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createSwapScene, type SwapScene } from "../../../test/swap/swap-scene.ts";
import { recordRefusal } from "./record-refusal.ts";

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

function refusal(nowMs: number) {
	return recordRefusal(database.pool, { swapId: scene.uuid, reason: "recipient_refused", nowMs });
}

test("a swap counts one refusal for its account, which expires after a day", async () => {
	const refusedAtMs = scene.clock.nowMs;
	const refusalsAt = (nowMs: number) => readRefusals(database.pool, { accountId, nowMs });
	expect(await refusalsAt(refusedAtMs)).toMatchObject({ count: 0 });
	await refusal(refusedAtMs);
	await refusal(refusedAtMs + 1_000);
	expect(await refusalsAt(refusedAtMs + 60_000)).toEqual({ count: 1, retryAfterSeconds: 86_400 - 60 });
	expect(await refusalsAt(refusedAtMs + dayMs)).toMatchObject({ count: 0 });
});

test("an account's next refusal deletes those that have expired", async () => {
	await refusal(scene.clock.nowMs);
	const next = await createSwapScene(database.pool);
	await database.pool.query("update swaps set account_id = $2 where id = $1", [next.uuid, accountId]);
	const nowMs = scene.clock.nowMs + dayMs;
	await recordRefusal(database.pool, { swapId: next.uuid, reason: "recipient_account_gone", nowMs });
	const { rows } = await database.pool.query(
		"select swap_id, reason from account_refusals where account_id = $1",
		[accountId],
	);
	expect(rows).toEqual([{ swap_id: next.uuid, reason: "recipient_account_gone" }]);
});

test("a swap without an account counts no refusal", async () => {
	await database.pool.query("update swaps set account_id = null where id = $1", [scene.uuid]);
	await refusal(scene.clock.nowMs);
	const { rowCount } = await database.pool.query("select from account_refusals where swap_id = $1", [
		scene.uuid,
	]);
	expect(rowCount).toBe(0);
});
