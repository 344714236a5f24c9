import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import { createPauseList } from "./pause-list.ts";
import { liftPauses, pauseChain } from "./pauses.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());

const nowMs = 1_800_000_000_000;

test("a pause is seen soon, holds while the database is gone, and ends when it is lifted", async () => {
	let isGone = false;
	let failures = 0;
	const db = {
		query: (...query: Parameters<Database["query"]>) =>
			isGone ? Promise.reject(new Error("gone")) : database.pool.query(...query),
	} as Database;
	const list = await createPauseList({
		db,
		everyMs: 10,
		onError: () => {
			failures += 1;
		},
	});
	expect(list.reasonOf(1)).toBeUndefined();
	await pauseChain(database.owner, { chainId: 1, cause: "breach", reason: "short", nowMs });
	await vi.waitUntil(() => list.reasonOf(1) === "short");
	expect(list.reasonOf(2)).toBeUndefined();
	isGone = true;
	await vi.waitUntil(() => failures > 2);
	expect(list.reasonOf(1)).toBe("short");
	isGone = false;
	await liftPauses(database.owner, { chainId: 1, by: "ada", reason: "paid in", nowMs });
	await vi.waitUntil(() => list.reasonOf(1) === undefined);
	await list.close();
});

test("until the list was read once, every chain counts as paused", async () => {
	const db = { query: () => Promise.reject(new Error("gone")) } as unknown as Database;
	const list = await createPauseList({ db, everyMs: 10 });
	expect(list.reasonOf(1)).toMatch(/not known/);
	expect(list.open()).toBeUndefined();
	await list.close();
});
