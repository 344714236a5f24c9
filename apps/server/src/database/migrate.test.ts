import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { expectSchema, migrate } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
});
afterAll(() => database.drop());

/**
 * Returns the messages of migrating, and of a process's start, after this statement. The statement is undone
 * afterwards.
 */
async function said(sql: string) {
	const { owner, pools, roles } = database;
	await owner.query("create table kept as table migrations");
	try {
		await owner.query(sql);
		const outcome = (attempt: Promise<unknown>) =>
			attempt.then(
				(applied) => applied,
				(error: Error) => error.message,
			);
		return {
			start: await outcome(expectSchema(pools.api)),
			migrate: await outcome(migrate(owner, { roles })),
		};
	} finally {
		await owner.query("delete from migrations; insert into migrations select * from kept; drop table kept");
	}
}

test("a second migration has nothing to do, and a process can start", async () => {
	expect(await said("select 1")).toEqual({ start: undefined, migrate: [] });
});

test("a migration that was changed after it was applied blocks further migrations and every start", async () => {
	const problem = expect.stringMatching(
		/^has another version of the migration 0001-first.sql .* restore the file as it was applied/,
	);
	expect(await said("update migrations set hash = 'other' where name = '0001-first.sql'")).toEqual({
		start: problem,
		migrate: problem,
	});
});

test("a database that is newer than the program blocks migrations and every start", async () => {
	const problem = "has the migration 9999-later.sql, which this version does not have; run a newer version";
	expect(await said("insert into migrations (name) values ('9999-later.sql')")).toEqual({
		start: problem,
		migrate: problem,
	});
});

test("no process starts while a migration is pending, and migrations without a hash get one", async () => {
	const { owner, pools, roles } = database;
	const { start } = await said("delete from migrations where name like '0002%'");
	expect(start).toBe("lacks the migrations 0002-partitions.sql; run geoswapd migrate");
	await owner.query("update migrations set hash = null");
	await expectSchema(pools.worker);
	expect(await migrate(owner, { roles })).toEqual([]);
	expect((await owner.query("select from migrations where hash is null")).rowCount).toBe(0);
});

test("a posting that does not balance is refused", async () => {
	const { rows } = await database.pool.query(
		"insert into postings (key, chain_id, block_number, name) values ('k', 1, 1, 'n') returning id",
	);
	await expect(
		database.pool.query("insert into entries values ($1, 'inventory', 1, '\\x00', 5)", [rows[0].id]),
	).rejects.toThrow("does not balance");
});
