import { afterAll, beforeAll, expect, test } from "vitest";
import { someoneWaits } from "../../../test/service/someone-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { readBooks } from "./read-books.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "auditor" });
});
afterAll(() => database.drop());

test("a broken connection is an error of this read, and does not end the process", async () => {
	const holder = await database.owner.connect();
	await holder.query("begin");
	await holder.query("lock table postings");
	const reading = expect(readBooks(database.pool)).rejects.toThrow(/terminat/);
	await someoneWaits(database.owner);
	await holder.query(
		`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`,
	);
	await reading;
	await holder.query("rollback");
	holder.release();
	expect((await readBooks(database.pool)).swaps).toEqual([]);
});

test("if a nonce has a new transaction, all transactions of that nonce are read", async () => {
	const sign = (nonce: number, attempt: number, age: string, jobs: object[]) =>
		database.owner.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
				sent_at_block, created_at)
			values (1, '\\x11', $1::int, $2::int, decode(lpad(($1::int * 10 + $2::int)::text, 64, '0'), 'hex'), '', 'fill', $4, 1, 'final', 1,
				now() - $3::interval)`,
			[nonce, attempt, age, JSON.stringify(jobs)],
		);
	await sign(1, 0, "2 hours", [{ swapId: "a" }]);
	await sign(2, 0, "2 hours", [{ swapId: "b" }]);
	await sign(2, 1, "1 minute", [{ swapId: "c" }]);
	const { nonces } = await readBooks(database.pool, { endedAfter: new Date(Date.now() - 3_600_000) });
	expect(nonces).toEqual({ checked: 1, wrong: [expect.objectContaining({ nonce: "2", sets: 2 })] });
	expect((await readBooks(database.pool)).nonces.checked).toBe(2);
});
