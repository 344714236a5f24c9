import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { ensurePartitions } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("workers that start concurrently create each partition once, and none fails", async () => {
	const days = { nowMs: Date.now() + 100 * 86_400_000, daysAhead: 10 };
	await Promise.all(Array.from({ length: 6 }, () => ensurePartitions(database.pool, days)));
	const { rows } = await database.pool.query<{ count: number }>(
		"select count(*)::int from pg_inherits where inhparent = 'swaps'::regclass",
	);
	// The count includes the partitions of the database's own days.
	expect(rows[0]?.count).toBe(12 + 3);
});
