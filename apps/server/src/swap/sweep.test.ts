import { afterAll, beforeAll, expect, test } from "vitest";
import { createSwapScene } from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { sweep } from "./sweep.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("every swap that has not ended is started again, but not one that was just submitted", async () => {
	const scenes = [];
	for (let i = 0; i < 3; i++) scenes.push(await createSwapScene(database.pool, { isReserved: false }));
	const [left, ended, young] = scenes.map((scene) => scene.uuid);
	await database.pool.query("update swaps set created_at = now() - interval '10 s' where id <> $1", [young]);
	await database.pool.query("update swaps set ended_at = now() where id = $1", [ended]);
	const started: string[] = [];
	const engine = {
		startSwap: async (uuid: string) => {
			started.push(uuid);
		},
	};
	expect(await sweep({ db: database.pool, engine, nowMs: Date.now() })).toBe(1);
	expect(started).toEqual([left]);
});
