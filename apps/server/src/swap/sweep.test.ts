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
	const started: [string, number | undefined][] = [];
	const engine = {
		startSwap: async (uuid: string, execution?: number) => {
			started.push([uuid, execution]);
		},
	};
	const { pool: db } = database;
	expect(await sweep({ db, engine, nowMs: Date.now() })).toBe(1);
	// Of one that was taken over, the execution that looked last.
	await db.query("insert into waits (swap_id, order_id, signal_id, execution) values ($1, '', '', 3)", [
		left,
	]);
	expect(await sweep({ db, engine, nowMs: Date.now() })).toBe(1);
	expect(started).toEqual([
		[left, 0],
		[left, 3],
	]);
});

test("a sweep of the newest starts none that was quoted before", async () => {
	const { uuid } = await createSwapScene(database.pool, { isReserved: false });
	const started: string[] = [];
	const engine = {
		startSwap: async (id: string) => {
			started.push(id);
		},
	};
	const nowMs = Date.now() + 60_000;
	await sweep({ db: database.pool, engine, nowMs, fromMs: nowMs - 30_000 });
	expect(started).toEqual([]);
	await sweep({ db: database.pool, engine, nowMs, fromMs: nowMs - 3_600_000 });
	expect(started).toContain(uuid);
});

test("a swap that nobody looked at for long is started once under a name that the engine cannot know", async () => {
	const { pool: db } = database;
	await db.query("truncate swaps, waits");
	const { uuid } = await createSwapScene(db, { isReserved: false });
	const started: [string, number | undefined][] = [];
	const engine = {
		startSwap: async (id: string, execution?: number) => {
			started.push([id, execution]);
		},
	};
	const nowMs = Date.now();
	await sweep({ db, engine, nowMs: nowMs + 20_000 });
	// An engine that is slow for a minute is only slow: two executions of one swap would be one too many.
	await sweep({ db, engine, nowMs: nowMs + 100_000 });
	expect(started).toEqual([
		[uuid, 0],
		[uuid, 0],
	]);
	await sweep({ db, engine, nowMs: nowMs + 130_000 });
	await sweep({ db, engine, nowMs: nowMs + 600_000 });
	const [, , first, second] = started;
	expect(first?.[1]).toBeGreaterThan(1_000_000);
	expect(second).toEqual(first);
});
