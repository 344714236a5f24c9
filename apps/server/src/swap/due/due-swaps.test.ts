import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { isAnyDue, readDueSwaps } from "./due-swaps.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await database.owner.query(
		"insert into chain_heads select i, 1000, '', 1, 1, 990, 1, 0, 990 from generate_series(1, 3) as i",
	);
	await database.owner.query(
		`insert into waits (swap_id, order_id, due_at, head_chain_id, head_number, finalized_chain_id, finalized_number)
		select gen_random_uuid(), int4send(i), now() + interval '1 hour', 1 + i % 3, 1001 + i % 50, 1 + i % 3, 991 + i % 60
		from generate_series(1, 10000) as i`,
	);
	await database.owner.query("vacuum analyze waits");
});
afterAll(() => database.drop());

test("due swaps are found by indexes, regardless of the number of waiting swaps", async () => {
	const { rows } = await database.pool.query(`explain select ${isAnyDue}`);
	const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
	expect(plan).not.toContain("Seq Scan on waits");
	expect(plan).toContain("waits_by_head");
	expect(plan).toContain("waits_by_finalized");
});

test("a swap is due by its time, by a head or by a final block, and the one that is due for the longest time comes first", async () => {
	const { pool } = database;
	const due = () => readDueSwaps(pool, { limit: 10, except: [] });
	expect(await due()).toEqual({ swapIds: [], openChainIds: [] });
	const { rows } = await pool.query<{ swap_id: string }>("select swap_id from waits limit 3");
	const [timed, headed, finalized] = rows.map((row) => row.swap_id);
	await pool.query("update waits set due_at = now() - interval '1 day' where swap_id = $1", [timed]);
	await pool.query("update waits set head_number = 1000 where swap_id = $1", [headed]);
	await pool.query("update waits set finalized_number = 990 where swap_id = $1", [finalized]);
	const { swapIds } = await due();
	expect(swapIds[0]).toBe(timed);
	expect(swapIds.toSorted()).toEqual([timed, headed, finalized].toSorted());
	expect((await readDueSwaps(pool, { limit: 10, except: swapIds })).swapIds).toEqual([]);
});
