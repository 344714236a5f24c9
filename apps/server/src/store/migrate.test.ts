import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { migrate } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a second migration finds nothing to do", async () => {
	expect(await migrate(database.pool)).toEqual([]);
});

test("a posting that does not balance is refused as a whole", async () => {
	const { rows } = await database.pool.query(
		"insert into postings (key, chain_id, block_number, name) values ('k', 1, 1, 'n') returning id",
	);
	await expect(
		database.pool.query("insert into entries values ($1, 'stock', 1, '\\x00', 5)", [rows[0].id]),
	).rejects.toThrow("does not balance");
});
