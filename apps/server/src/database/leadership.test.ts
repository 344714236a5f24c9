import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { holdLeadership } from "./leadership.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a leader whose connection is cut notices it, and another one can lead", async () => {
	const { pool } = database;
	let leader: pg.PoolClient | undefined;
	pool.once("acquire", (client) => {
		leader = client as pg.PoolClient;
	});
	const name = "test";
	await holdLeadership(pool, { name }, async (isHeld) => {
		await holdLeadership(pool, { name }, () => Promise.reject(new Error("there are two leaders")));
		const { rows } = await (leader as pg.PoolClient).query<{ pid: number; idle: string }>(
			"select pg_backend_pid() as pid, current_setting('tcp_keepalives_idle') as idle",
		);
		expect(rows[0]?.idle).toBe("10");
		await pool.query("select pg_terminate_backend($1, 5000)", [rows[0]?.pid]);
		while (isHeld()) await sleep(5);
		let hasLed = false;
		await holdLeadership(pool, { name }, async () => {
			hasLed = true;
		});
		expect(hasLed).toBe(true);
	});
});
