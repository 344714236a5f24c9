import { firstSwapUuidAt } from "@geoswap/protocol";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId } from "../../test/swap/swap-scene.ts";
import type { Database } from "../database/database.ts";
import { ensurePartitions } from "../database/migrate.ts";
import { createUnendedCounts } from "./count-unended.ts";

const dayMs = 86_400_000;
const days = 40;

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await ensurePartitions(database.pool, { nowMs: Date.now() - days * dayMs, daysAhead: days });
});
beforeEach(() => database.owner.query("truncate swaps"));
afterAll(() => database.drop());

const paces = [
	{ chainId: originId, openSeconds: 300, finalitySeconds: 20 },
	{ chainId: destinationId, openSeconds: 300, finalitySeconds: 10 },
];
/** Twice the time of both chains, and a minute. */
const patienceSeconds = 120;

async function stuckAfter(seconds: number): Promise<Record<string, number>> {
	const { read } = createUnendedCounts({ db: database.pool, paces });
	const swaps = await read({ nowMs: Date.now() + seconds * 1_000 });
	return Object.fromEntries(swaps.map(({ stage, stuck }) => [stage, stuck]));
}

test("a swap is stuck once its state has not changed for longer than its chains should take, and not before", async () => {
	const [opening, delivering, unreleased, ended] = [
		await createSwapScene(database.pool, { isReserved: false }),
		await createSwapScene(database.pool, { isReserved: false }),
		await createSwapScene(database.pool, { isReserved: false }),
		await createSwapScene(database.pool, { isReserved: false }),
	];
	const set = (id: string, columns: string) =>
		database.pool.query(`update swaps set ${columns}, updated_at = now() where id = $1`, [id]);
	await set(delivering.uuid, "stage = 'delivering'");
	await set(unreleased.uuid, "stage = 'delivered', status = 'settled'");
	await set(ended.uuid, "stage = 'delivered', status = 'settled', ended_at = now()");

	const swaps = await createUnendedCounts({ db: database.pool, paces }).read({ nowMs: Date.now() });
	const route = { origin: String(originId), destination: String(destinationId), count: 1, stuck: 0 };
	expect(swaps.toSorted((a, b) => (a.stage < b.stage ? -1 : 1))).toEqual([
		{ stage: "delivering", ...route },
		{ stage: "opening", ...route },
		{ stage: "unreleased", ...route },
	]);

	expect(await stuckAfter(patienceSeconds - 20)).toEqual({ opening: 0, delivering: 0, unreleased: 0 });
	expect(await stuckAfter(patienceSeconds + 20)).toEqual({ opening: 0, delivering: 1, unreleased: 1 });
	// It may still be opened until its deadline.
	expect(await stuckAfter(300 + patienceSeconds - 20)).toMatchObject({ opening: 0 });
	expect(await stuckAfter(300 + patienceSeconds + 20)).toMatchObject({ opening: 1 });

	await database.pool.query("update swaps set updated_at = now() + interval '1 hour' where id = $1", [
		delivering.uuid,
	]);
	expect(await stuckAfter(patienceSeconds + 20)).toMatchObject({ delivering: 0, unreleased: 1 });
	expect(opening.uuid).toBeDefined();
});

test("an unfinished swap is counted at any age, and old ones are counted again every ten minutes", async () => {
	const nowMs = Date.now();
	const { read } = createUnendedCounts({ db: database.pool, paces });
	const countAt = async (atMs: number) =>
		(await read({ nowMs: atMs })).map(({ count, stuck }) => [count, stuck]);
	const insert = async (quotedAtMs: number) => {
		const { uuid } = await createSwapScene(database.pool, { isReserved: false });
		const id = firstSwapUuidAt(quotedAtMs);
		await database.pool.query(
			"update swaps set id = $2, created_at = to_timestamp($3), updated_at = to_timestamp($3) where id = $1",
			[uuid, id, quotedAtMs / 1_000],
		);
		return id;
	};
	const old = await insert(nowMs - 30 * dayMs);
	await insert(nowMs - dayMs);
	// There is one series, regardless of which query found the swaps.
	expect(await countAt(nowMs)).toEqual([[2, 2]]);
	await insert(nowMs);
	expect(await countAt(nowMs + 5_000)).toEqual([[3, 2]]);
	await database.pool.query("update swaps set ended_at = now() where id = $1", [old]);
	expect(await countAt(nowMs + 599_999)).toEqual([[3, 3]]);
	expect(await countAt(nowMs + 600_000)).toEqual([[2, 2]]);
});

test("a read locks only the partitions of a few days", async () => {
	const nowMs = Date.now();
	const client = await database.pool.connect();
	try {
		const { read } = createUnendedCounts({ db: client, paces });
		const locksOf = async (atMs: number) => {
			await client.query("begin");
			await read({ nowMs: atMs });
			const { rows } = await client.query<{ locks: number }>(
				"select count(*) as locks from pg_locks where pid = pg_backend_pid() and relation::regclass::text like 'swaps%'",
			);
			await client.query("commit");
			return rows[0]?.locks ?? 0;
		};
		const all = await locksOf(nowMs);
		expect(all).toBeGreaterThan(days * 8);
		// This must hold for repeated calls, because a cached plan would be one over all partitions.
		for (let look = 1; look <= 10; look++) {
			expect(await locksOf(nowMs + look * 5_000)).toBeLessThan(60);
		}
	} finally {
		client.release();
	}
});

test("only unfinished swaps are read, by a partial index", async () => {
	const { pool } = database;
	const nowMs = Date.now();
	await createSwapScene(pool, { isReserved: false });
	await pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, ended_at)
		select (left($1::text, 24) || lpad(to_hex(i), 12, '0'))::uuid, '', '{}', 1, 1, '{}', now()
		from generate_series(1, 5000) i`,
		[firstSwapUuidAt(nowMs)],
	);
	await database.owner.query("analyze swaps");
	const plans: string[] = [];
	const explaining = {
		query: async ({ text, values }: { text: string; values: unknown[] }) => {
			const { rows } = await pool.query(`explain ${text}`, values);
			plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
			return { rows: [] };
		},
	} as unknown as Database;
	await createUnendedCounts({ db: explaining, paces }).read({ nowMs });
	const { rows: partial } = await pool.query<{ name: string }>(
		"select indexrelid::regclass::text as name from pg_index where indpred is not null",
	);
	const today = `swaps_${new Date(nowMs).toISOString().slice(0, 10).replaceAll("-", "_")}`;
	const scans = plans.flatMap((plan) => plan.split("\n")).filter((line) => line.includes(`on ${today} `));
	expect(scans).toHaveLength(1);
	const [, index] = /Index Scan using (\S+)/.exec(scans[0] ?? "") ?? [];
	expect(partial.map(({ name }) => name)).toContain(index);
});
