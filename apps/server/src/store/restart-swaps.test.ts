import { afterAll, beforeAll, expect, test } from "vitest";
import { createSwapScene } from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { look } from "./look.ts";
import { restartSwaps } from "./restart-swaps.ts";
import { readUnendedSwaps } from "./unended-swaps.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("after a restore each unfinished swap is left to an execution that no engine had, and the others can write no more", async () => {
	const { pool } = database;
	const isReserved = false;
	const [looked, taken, fresh, ended] = await Promise.all([
		createSwapScene(pool, { isReserved }),
		createSwapScene(pool, { isReserved }),
		createSwapScene(pool, { isReserved }),
		createSwapScene(pool, { isReserved }),
	]);
	const lookAs = (swapId: string, execution: number) =>
		look(pool, {
			...{ swapId, execution, signalId: `signal ${execution}`, nowMs: Date.now() },
			attestersOf: () => ({ attesters: [], chainIds: [], heartbeatSeconds: 1, sightSeconds: 1 }),
		});
	await lookAs(looked.uuid, 0);
	await lookAs(taken.uuid, 3);
	await pool.query("update swaps set ended_at = now() where id = $1", [ended.uuid]);

	const nowMs = Date.now();
	expect(await restartSwaps(pool, { nowMs })).toBe(3);
	const unended = await readUnendedSwaps(pool, {
		createdBeforeMs: nowMs + 60_000,
		after: undefined,
		limit: 10,
	});
	expect(new Set(unended.map(({ id }) => id))).toEqual(new Set([looked.uuid, taken.uuid, fresh.uuid]));
	const executions = unended.map(({ execution = 0 }) => execution);
	expect(Math.min(...executions)).toBeGreaterThan(1_000_000);
	expect(await lookAs(looked.uuid, 0)).toBe("over");
	expect(await lookAs(taken.uuid, 4)).toBe("over");
	for (const { id, execution = 0 } of unended)
		expect(await lookAs(id, execution)).toMatchObject({ swap: { id } });

	// Again, at once: once more none of those that were started goes on.
	await restartSwaps(pool, { nowMs });
	for (const { id, execution = 0 } of unended) expect(await lookAs(id, execution)).toBe("over");
});
