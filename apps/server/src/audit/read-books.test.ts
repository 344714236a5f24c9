import { afterAll, beforeAll, expect, test } from "vitest";
import { someoneWaits } from "../../test/someone-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { readBooks } from "./read-books.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a connection that breaks is an error of this reading, and not the end of the process", async () => {
	const holder = await database.pool.connect();
	await holder.query("begin");
	await holder.query("lock table postings");
	const reading = expect(readBooks(database.pool)).rejects.toThrow(/terminat/);
	await someoneWaits(database.pool);
	await holder.query(
		`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`,
	);
	await reading;
	await holder.query("rollback");
	holder.release();
	expect((await readBooks(database.pool)).swaps).toEqual([]);
});
