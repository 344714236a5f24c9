import { randomBytes } from "node:crypto";
import { orderToJson } from "@geoswap/protocol";
import { type Hash, hexToBytes, padHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { type AppliedBlock, applyBlock, applyQuietBlock } from "./apply-block.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await database.owner.query("insert into chain_heads values (1, 100, $1, 1, 1, 90, 1, 0, 90)", [
		hexToBytes(hashOf(100)),
	]);
});
afterAll(() => database.drop());

function hashOf(number: number): Hash {
	return padHex(`0x${number.toString(16)}`, { size: 32 });
}

function blockOf(number: number, finalized: number): AppliedBlock {
	return {
		chainId: 1,
		block: { number, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: number, baseFee: 1n },
		events: [],
		mined: [],
		finalized: {
			number: finalized,
			hash: `0x${finalized.toString(16).padStart(64, "0")}`,
			timestamp: finalized,
		},
		vaults: [],
		assets: [],
	};
}

/** Returns how many pages the statement for a quiet block reads or writes. The statement is rolled back. */
async function pagesOfQuietBlock(applied: AppliedBlock): Promise<number> {
	let pages = 0;
	const explaining = {
		query: async ({ text, values }: { text: string; values: unknown[] }) => {
			const client = await database.pool.connect();
			try {
				await client.query("begin");
				const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
				const { Plan: plan } = rows[0]["QUERY PLAN"][0];
				expect(plan["Actual Rows"]).toBe(1);
				pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
			} finally {
				await client.query("rollback");
				client.release();
			}
			return { rowCount: 1 };
		},
	} as unknown as Database;
	expect(await applyQuietBlock(explaining, applied)).toBe(true);
	return pages;
}

test("a quiet block costs the same regardless of the number of unfinal deposits, and a block that makes them final updates them", async () => {
	const { owner, pool } = database;
	const before = await pagesOfQuietBlock(blockOf(101, 91));
	const orderIds = Array.from({ length: 10_000 }, () => randomBytes(32));
	await owner.query(
		`insert into exposures select gen_random_uuid(), id, 1, '\\x5e', 100, false from unnest($1::bytea[]) as id`,
		[orderIds],
	);
	await owner.query(
		`insert into chain_events select 1, case when n <= 10 then 92 else 99 end, n, '\\x00', '\\x01', '\\x00', id, 'Opened', $2
		from unnest($1::bytea[]) with ordinality as o (id, n)`,
		[orderIds, { order: orderToJson(anyOrder()) }],
	);
	await owner.query("analyze exposures, chain_events");
	const pages = await pagesOfQuietBlock(blockOf(101, 91));
	console.log(`a quiet block: ${before} pages, with 10,000 deposits that are not final ${pages}`);
	expect(pages - before).toBeLessThan(20);

	const unfinal = async () => (await pool.query("select from exposures where not is_final")).rowCount;
	expect(await applyQuietBlock(pool, blockOf(101, 92))).toBe(false);
	await inTransaction(pool, (db) => applyBlock(db, blockOf(101, 92)));
	expect(await unfinal()).toBe(9_990);
});
