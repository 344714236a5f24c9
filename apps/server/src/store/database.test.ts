import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { inTransaction } from "./database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a connection that is lost in a transaction fails that one and not the process", async () => {
	const lost = inTransaction(database.pool, async (db) => {
		const { rows } = await db.query<{ pid: number }>("select pg_backend_pid() as pid");
		await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
		await db.query("select 1");
	});
	await expect(lost).rejects.toThrow();
	expect(await inTransaction(database.pool, async () => "works")).toBe("works");
});
