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

test("a leader whose connection is cut notices it, and another one can take the lead", async () => {
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

test("a leader that is silent for too long loses the lead, and another one can take it", async () => {
	const { pool } = database;
	const name = "silent";
	await holdLeadership(pool, { name, beatMs: 60_000, silentMs: 200 }, async (isHeld) => {
		while (isHeld()) await sleep(5);
		let hasLed = false;
		while (!hasLed) {
			await holdLeadership(pool, { name }, async () => {
				hasLed = true;
			});
		}
	});
});

test("a leader that has nothing to do keeps the lead", async () => {
	const { pool } = database;
	const name = "idle";
	await holdLeadership(pool, { name, beatMs: 50, silentMs: 1_000 }, async (isHeld) => {
		const { rows } = await pool.query<{ now: Date }>("select now()");
		const since = rows[0]?.now.getTime() ?? 0;
		for (let now = since; now < since + 2_000; await sleep(100)) {
			await holdLeadership(pool, { name }, () => Promise.reject(new Error("there are two leaders")));
			now = (await pool.query<{ now: Date }>("select now()")).rows[0]?.now.getTime() ?? 0;
		}
		expect(isHeld()).toBe(true);
	});
});
