import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countingPool } from "../../test/service/counting-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { inTransaction, openDatabase, refusalOf } from "./database.ts";
import { ensurePartitions } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a connection lost in a transaction fails only that transaction, not the process", async () => {
	const lost = inTransaction(database.pool, async (db) => {
		const { rows } = await db.query<{ pid: number }>("select pg_backend_pid() as pid");
		await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
		await db.query("select 1");
	});
	await expect(lost).rejects.toThrow();
	expect(await inTransaction(database.pool, async () => "works")).toBe("works");
});

test("a statement that is run often locks only the partition of its id", async () => {
	await ensurePartitions(database.pool, { nowMs: Date.now(), daysAhead: 60 });
	const most = await inTransaction(database.pool, async (db) => {
		const read = { name: "read-one", text: "select id from swaps where id = $1", values: [randomUUID()] };
		// PostgreSQL considers a plan for all values after five runs.
		for (let run = 0; run < 10; run++) await db.query(read);
		const { rows } = await db.query<{ locks: number }>(
			"select count(*)::int as locks from pg_locks where pid = pg_backend_pid() and locktype = 'relation'",
		);
		return rows[0]?.locks;
	});
	expect(most).toBeLessThan(40);
});

test("options in the database's URL are kept besides those of the service", async () => {
	const url = new URL(database.url);
	url.searchParams.set("options", "-c statement_timeout=12345");
	const pool = openDatabase({ url: url.href, applicationName: "test", max: 1 });
	try {
		const { rows } = await pool.query(
			"select current_setting('plan_cache_mode') as plans, current_setting('statement_timeout') as timeout",
		);
		expect(rows).toEqual([{ plans: "force_custom_plan", timeout: "12345ms" }]);
	} finally {
		await pool.end();
	}
});

test("connections have keepalives and a timeout for idle transactions, in case the host disappears", async () => {
	const { rows } = await database.pool.query(
		`select current_setting('idle_in_transaction_session_timeout') as transaction,
			current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
			current_setting('tcp_keepalives_count') as count`,
	);
	expect(rows).toEqual([{ transaction: "15s", idle: "10", interval: "5", count: "3" }]);
});

test("a transaction whose statement times out is abandoned together with its connection", async () => {
	const pool = openDatabase({ url: database.url, applicationName: "test", max: 1, queryTimeoutMs: 200 });
	const { pool: counting, statements } = countingPool(pool);
	try {
		const late = inTransaction(counting, (db) => db.query("select pg_sleep(1)"));
		await expect(late).rejects.toThrow("Query read timeout");
		expect(statements).not.toContain("rollback");
		expect(pool.totalCount).toBe(0);
	} finally {
		await pool.end();
	}
});

test("a database that accepts no writes, or no more connections, is reported", async () => {
	const told: string[] = [];
	const open = (url: string) =>
		openDatabase({ url, applicationName: "test", max: 1, onRefusal: (kind) => told.push(kind) });
	const readOnly = new URL(database.url);
	readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
	const pool = open(readOnly.href);
	const name = new URL(database.url).pathname.slice(1);
	try {
		const refused = await pool.query("create table refused ()").catch((error: unknown) => error);
		expect(refusalOf(refused)).toBe("read-only");
		expect(told).toEqual(["read-only"]);
		await pool.query("select 1");
		expect(told).toHaveLength(1);
		// One connection is already open, so none is left.
		await database.owner.query(`alter database "${name}" connection limit 0`);
		const crowded = open(database.url);
		await expect(crowded.query("select 1")).rejects.toThrow("too many connections");
		await crowded.end();
		expect(told).toEqual(["read-only", "crowded"]);
	} finally {
		await database.owner.query(`alter database "${name}" connection limit -1`);
		await pool.end();
	}
});
