import { randomBytes, randomUUID } from "node:crypto";
import { bytesToHex, getAddress, type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { applyBlock } from "./apply-block.ts";
import { readClaimedOrders } from "./read-claimed-orders.ts";

const chainId = 1;
const [token, other] = [newAddress(), newAddress()];

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await database.owner.query("insert into chain_heads values ($1, 100, $2, 1, 1, 90, 1, 0, 90)", [
		chainId,
		hexToBytes(hashOf(100)),
	]);
});
afterAll(() => database.drop());
let logs = 0;
let wallet: Hex;
beforeEach(() => {
	wallet = newAddress();
});

test("a block with a claim makes the swaps due whose refunds became credits of its wallet and token", async () => {
	const paid = await credit({ token });
	const inOtherToken = await credit({ token: other });
	const ended = await credit({ token, isWaiting: false });
	wallet = newAddress();
	const ofOtherWallet = await credit({ token });
	wallet = paid.wallet;
	const event = { ...claimOf(token), orderId: undefined, contract: wallet, logIndex: 0 };
	await inTransaction(database.pool, (db) =>
		applyBlock(db, {
			chainId,
			block: { number: 101, hash: hashOf(101), parentHash: hashOf(100), timestamp: 101, baseFee: 1n },
			events: [{ ...event, transactionHash: hashOf(7) }],
			mined: [],
			finalized: { number: 90, hash: hashOf(90), timestamp: 90 },
			vaults: [],
			assets: [],
		}),
	);
	const { rows } = await database.pool.query<{ order_id: Buffer }>(
		"select order_id from waits where due_at <= now() and mark > 0",
	);
	const marked = rows.map((row) => bytesToHex(row.order_id));
	expect(marked).toEqual([paid.orderId]);
	for (const { orderId } of [inOtherToken, ended, ofOtherWallet]) expect(marked).not.toContain(orderId);
});

test("a claim reads few credits and finds the newest, regardless of the number of credits", async () => {
	const { owner, pool } = database;
	await owner.query(
		`insert into chain_events select $1, 100, 1000 + i, '\\x00', '\\x01', '\\x00', int4send(i), 'Credited',
			jsonb_build_object('beneficiary', case when i % 2 = 0 then $2 else 'stranger ' || i % 100 end, 'token', $3::text)
		from generate_series(1, 20000) i`,
		[chainId, wallet, token],
	);
	await owner.query(
		"insert into waits (swap_id, order_id) select gen_random_uuid(), int4send(i) from generate_series(1, 20000) i",
	);
	await owner.query("analyze chain_events, waits");
	const newest = await credit({ token, blockNumber: 150 });
	const events = [claimOf(token)];
	const found = await readClaimedOrders(pool, { chainId, events });
	expect(found).toHaveLength(10);
	expect(found).toContain(newest.orderId);

	let pages = 0;
	const explaining = {
		query: async ({ text, values }: { text: string; values: unknown[] }) => {
			const { rows } = await pool.query(`explain (analyze, buffers, format json) ${text}`, values);
			const { Plan: plan } = rows[0]["QUERY PLAN"][0];
			pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
			return { rows: [] };
		},
	} as unknown as Database;
	await readClaimedOrders(explaining, { chainId, events });
	expect(pages).toBeGreaterThan(0);
	expect(pages).toBeLessThan(100);
});

function claimOf(claimed: Hex) {
	return { name: "Claimed", data: { beneficiary: wallet, token: claimed, to: wallet, amount: "1" } };
}

/** Writes a refund that became a credit of the wallet. Unless its swap has ended, the swap is due in an hour. */
async function credit({
	token: credited,
	isWaiting = true,
	blockNumber = 99,
}: {
	token: Hex;
	isWaiting?: boolean;
	blockNumber?: number;
}): Promise<{ orderId: Hex; wallet: Hex }> {
	const { owner } = database;
	const orderId = randomBytes(32);
	await owner.query(
		`insert into chain_events values ($1, $2, $3, '\\x00', '\\x01', '\\x00', $4, 'Credited', $5)`,
		[chainId, blockNumber, ++logs, orderId, { beneficiary: wallet, token: credited, amount: "1" }],
	);
	if (isWaiting) {
		await owner.query(
			"insert into waits (swap_id, order_id, due_at) values ($1, $2, now() + interval '1 hour')",
			[randomUUID(), orderId],
		);
	}
	return { orderId: bytesToHex(orderId), wallet };
}

function newAddress(): Hex {
	return getAddress(bytesToHex(randomBytes(20)));
}

function hashOf(number: number): Hex {
	return `0x${number.toString(16).padStart(64, "0")}`;
}
