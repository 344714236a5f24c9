import { type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import { createPauseList } from "./pause-list.ts";
import { liftPauses, pauseChain } from "./pauses.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());

const token = "0x00000000000000000000000000000000000000Ab";
const other = "0x00000000000000000000000000000000000000cd";
beforeEach(async () => {
	await database.owner.query("truncate chain_heads, inventory");
	for (const chainId of [1, 2]) {
		await follow(chainId);
		await seeInventory(chainId, other);
	}
});

async function seeInventory(chainId: number, seen: Hex): Promise<void> {
	await database.owner.query("insert into inventory values ($1, $2, 0, 0, 0, 1)", [
		chainId,
		hexToBytes(seen),
	]);
}

async function follow(chainId: number, ageSeconds = 0): Promise<void> {
	await database.owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number, finalized_height, updated_at)
		values ($1, 100, '', 1000, 1, 90, 990, 0, 0, now() - $2 * interval '1 second')`,
		[chainId, ageSeconds],
	);
}

const nowMs = 1_800_000_000_000;

test("a pause takes effect soon, holds while the database is unreachable, and ends when it is lifted", async () => {
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

test("a chain or a token is not offered until a worker follows it", async () => {
	const list = await createPauseList({ db: database.pool, everyMs: 10 });
	expect(list.reasonOf(1)).toBeUndefined();
	expect(list.reasonOf(3)).toBe("no worker has followed the chain yet");
	expect(list.reasonOf(1, token)).toBe("no worker has followed this token yet");
	await follow(3, 200);
	await seeInventory(3, other);
	await vi.waitUntil(() => list.reasonOf(3) === "no worker has followed the chain for 200 s");
	await database.owner.query("update chain_heads set updated_at = now() where chain_id = 3");
	await vi.waitUntil(() => list.reasonOf(3) === undefined);
	await seeInventory(1, token);
	await vi.waitUntil(() => list.reasonOf(1, token) === undefined);
	expect(list.reasonOf(3, token)).toBe("no worker has followed this token yet");
	await list.close();
});

test("a chain is not offered until a worker has read its inventory", async () => {
	await follow(3);
	const list = await createPauseList({ db: database.pool, everyMs: 10 });
	expect(list.reasonOf(3)).toBe("no worker has followed the chain yet");
	await seeInventory(3, token);
	await vi.waitUntil(() => list.reasonOf(3) === undefined);
	await list.close();
});

test("until the list was read once, every chain counts as paused", async () => {
	const db = { query: () => Promise.reject(new Error("gone")) } as unknown as Database;
	const list = await createPauseList({ db, everyMs: 10 });
	expect(list.reasonOf(1)).toMatch(/not known/);
	expect(list.open()).toBeUndefined();
	await list.close();
});
