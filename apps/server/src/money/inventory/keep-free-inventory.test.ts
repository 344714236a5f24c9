import { type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import { keepFreeInventory } from "./keep-free-inventory.ts";

const token: Hex = "0x00000000000000000000000000000000000000Ab";
const usdc = { chainId: 1, token };

let database: TestDatabase;
let nowMs: number;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());
beforeEach(async () => {
	nowMs = 1_800_000_000_000;
	await database.owner.query("truncate inventory, pair_volume");
	await database.owner.query(
		"insert into inventory (chain_id, token, balance, outflow_available, reserved, block_number) values (1, $1, 1000, 900, 100, 1)",
		[hexToBytes(token)],
	);
});

test("what is free is what may leave the vault less what is reserved, and never negative", async () => {
	const inventory = await keepFreeInventory({ db: database.pool, everyMs: 10, nowMs: () => nowMs });
	expect(inventory.of(usdc)).toEqual({ balance: 1_000n, reserved: 100n, free: 800n, beingSold: 0n });
	expect(inventory.of({ chainId: 2, token })).toMatchObject({ balance: 0n, free: 0n });
	await database.owner.query("update inventory set reserved = 950");
	await database.owner.query(
		"insert into pair_volume values (1, $1, 'sell', 7), (1, $1, 'buy', 9), (3, $1, 'sell', 5)",
		[hexToBytes(token)],
	);
	await vi.waitUntil(() => inventory.of(usdc)?.free === 0n);
	expect(inventory.of(usdc)).toMatchObject({ beingSold: 7n });
	expect(inventory.of({ chainId: 3, token })).toMatchObject({ free: 0n, beingSold: 5n });
	await inventory.close();
});

test("a token has a need only if both the amount and what a move costs are planned", async () => {
	await database.owner.query("update inventory set needed = 5000, arriving = 700");
	const inventory = await keepFreeInventory({ db: database.pool, everyMs: 2 ** 30, nowMs: () => nowMs });
	expect(inventory.of(usdc)?.need).toBeUndefined();
	await database.owner.query("update inventory set move_cost_bps = 3");
	await inventory.refresh();
	expect(inventory.of(usdc)?.need).toEqual({ needed: 5_000n, arriving: 700n, moveCostBps: 3 });
	await inventory.close();
});

test("while the database does not answer, the last reading stands, and is not current after ten seconds", async () => {
	let isGone = false;
	let failures = 0;
	const db = {
		query: (...query: Parameters<Database["query"]>) =>
			isGone ? Promise.reject(new Error("gone")) : database.pool.query(...query),
	} as Database;
	const inventory = await keepFreeInventory({
		db,
		everyMs: 10,
		nowMs: () => nowMs,
		onError: () => {
			failures++;
		},
	});
	isGone = true;
	await vi.waitUntil(() => failures > 1);
	nowMs += 10_000;
	expect(inventory.isCurrent()).toBe(true);
	nowMs += 1;
	expect(inventory.isCurrent()).toBe(false);
	expect(inventory.of(usdc)).toMatchObject({ free: 800n });
	isGone = false;
	await vi.waitUntil(() => inventory.isCurrent());
	await inventory.close();
});

test("nothing is known of any token until the database was read once", async () => {
	const db = { query: () => Promise.reject(new Error("gone")) } as unknown as Database;
	const inventory = await keepFreeInventory({ db, everyMs: 10, nowMs: () => nowMs });
	expect(inventory.of(usdc)).toBeUndefined();
	expect(inventory.isCurrent()).toBe(false);
	await inventory.close();
});
