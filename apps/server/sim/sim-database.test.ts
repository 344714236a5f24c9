import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { inTransaction } from "../src/database/database.ts";
import type { DatabaseFault } from "./enter-world-database.ts";
import { createRunDatabase } from "./run-plan.ts";
import { createScheduler } from "./scheduler.ts";
import { seededRandom } from "./seeded-random.ts";
import type { SimDatabase } from "./sim-database.ts";
import { createSimProcess } from "./sim-process.ts";
import { worldStartMs } from "./world.ts";

let made: { database: SimDatabase; drop: () => Promise<void> };
beforeAll(async () => {
	made = await createRunDatabase(inject("postgresUrl"));
});
afterAll(() => made.drop());
beforeEach(() => made.database.reset());

/** Creates a world with two processes, and a fault that can be set. */
function scene() {
	const scheduler = createScheduler({ startMs: worldStartMs });
	const fault: { now: DatabaseFault } = { now: undefined };
	const world = made.database.enter({ scheduler, random: seededRandom(1), faultOf: () => fault.now });
	const [one, other] = [createSimProcess({ name: "one" }), createSimProcess({ name: "other" })];
	const pass = (ms: number) => scheduler.runUntil(() => false, scheduler.nowMs() + ms);
	const count = async () => (await world.pool.query("select count(*) as count from lanes")).rows[0].count;
	const pools = [world.poolOf(one, "worker"), world.poolOf(other, "worker")] as const;
	/** Runs a statement of the first worker. An answer takes a while in this world. */
	const write = async (text: string) => {
		const written = pools[0].query(text);
		await pass(1_000);
		return written;
	};
	return { scheduler, fault, world, one, other, pools, pass, write, count };
}
const insert = (n: number) => `insert into lanes values (${n}, '', 0)`;

test("now() is the simulated time, also in column defaults", async () => {
	const { world, scheduler, pass, write } = scene();
	await pass(3_600_000);
	const before = scheduler.nowMs();
	await write("insert into postings (key, chain_id, block_number, name) values ('k', 1, 1, 'n')");
	const { rows } = await world.pool.query(
		"select at, now() as now, clock_timestamp() as clock from postings",
	);
	const now = new Date(scheduler.nowMs());
	expect(rows).toEqual([{ at: expect.any(Date), now, clock: now }]);
	expect(rows[0].at.getTime()).toBeGreaterThanOrEqual(before);
	expect(rows[0].at.getTime()).toBeLessThanOrEqual(now.getTime());
});

test("the row of a statement sent along with begin is passed to the transaction", async () => {
	const { pools, pass, count } = scene();
	const given: unknown[] = [];
	const done = inTransaction(
		pools[0],
		async (db, first) => {
			given.push(first);
			await db.query(insert(1));
		},
		{ first: "select 7 as seven" },
	);
	await pass(1_000);
	await done;
	expect(given).toEqual([{ seven: 7 }]);
	expect(await count()).toBe(1);
});

test("a statement of another process waits until the open transaction ends", async () => {
	const { scheduler, pools, pass, world } = scene();
	const seen: number[] = [];
	void inTransaction(pools[0], async (db) => {
		await db.query(insert(1));
		await scheduler.sleep(1_000, "work");
		await db.query(insert(2));
	});
	scheduler.in(500, "look", async () => {
		const { rows } = await pools[1].query("select count(*) as count from lanes");
		seen.push(rows[0].count, scheduler.nowMs() - worldStartMs);
	});
	await pass(5_000);
	expect(seen[0]).toBe(2);
	expect(seen[1]).toBeGreaterThanOrEqual(1_000);
	expect(world).toBeDefined();
});

test("the open transaction of a process that dies is rolled back, and other processes go on", async () => {
	const { scheduler, one, pools, pass, count } = scene();
	let isOver = false;
	void inTransaction(pools[0], async (db) => {
		await db.query(insert(1));
		await scheduler.sleep(1_000, "work");
		isOver = true;
	});
	scheduler.in(500, "death", () => one.die());
	scheduler.in(600, "other", () => void pools[1].query(insert(7)));
	await pass(5_000);
	expect([isOver, await count()]).toEqual([true, 1]);
});

test("a process that dies when its answer arrives blocks no other process", async () => {
	const { one, pools, pass, count } = scene();
	// The first touch is the query, the second its result.
	one.dieAt(2);
	void pools[0].query(insert(1));
	void pools[1].query(insert(2));
	await pass(5_000);
	expect([one.isAlive(), await count()]).toEqual([false, 2]);
});

test.each([
	["lost", 0],
	["answer-lost", 1],
] as const)(
	"if the connection is %s at the commit, %i rows are stored and the caller gets an error",
	async (how, rows) => {
		const { fault, pools, pass, count } = scene();
		let problem = "";
		inTransaction(pools[0], async (db) => {
			await db.query(insert(1));
			fault.now = how;
		}).catch((error: Error) => {
			problem = error.message;
		});
		await pass(1_000);
		fault.now = undefined;
		expect([problem, await count()]).toEqual(["Connection terminated unexpectedly", rows]);
	},
);

test("a restore puts all tables back as they were at the backup", async () => {
	const { world, write, count } = scene();
	await write(insert(1));
	await write("insert into postings (key, chain_id, block_number, name) values ('k', 1, 1, 'n')");
	await world.backUp();
	await write(insert(2));
	await write("update postings set key = 'changed'");
	await world.restore();
	expect(await count()).toBe(1);
	expect((await world.pool.query("select key from postings")).rows).toEqual([{ key: "k" }]);
	const { rows } = await write(
		"insert into postings (key, chain_id, block_number, name) values ('l', 1, 1, 'n') returning id",
	);
	expect(rows).toEqual([{ id: 2 }]);
});

test("an advisory lock is held until the connection that took it ends", async () => {
	const { pools, one } = scene();
	const lock = (pool: (typeof pools)[number]) =>
		pool
			.connect()
			.then((client) =>
				client.query<{ locked: boolean }>("select pg_try_advisory_lock(hashtextextended($1, 0))", ["a"]),
			)
			.then(({ rows }) => rows[0]?.locked);
	expect([await lock(pools[0]), await lock(pools[1])]).toEqual([true, false]);
	one.die();
	expect(await lock(pools[1])).toBe(true);
});
