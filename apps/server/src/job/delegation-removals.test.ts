import { randomBytes, randomUUID } from "node:crypto";
import { bytesToHex, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { queueRemoval } from "./delegation-removals.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());

test("50 concurrent requests for removals exceed neither an account's budget nor a chain's", async () => {
	const accounts = Array.from({ length: 5 }, () => randomUUID());
	const perDay = { perAccount: 4, perChain: 9 };
	const results = await Promise.all(
		Array.from({ length: 50 }, (_, i) =>
			queueRemoval(database.pool, {
				accountId: accounts[i % 5] ?? "",
				// The first account is on a separate chain, where its own budget counts.
				chainId: i % 5 === 0 ? 2 : 1,
				wallet: bytesToHex(randomBytes(20)),
				authorization: { address: zeroAddress, chainId: 1n, nonce: 0n, r: "0x1", s: "0x1", yParity: 0n },
				revocation: "0x",
				perDay,
			}),
		),
	);
	const { rows } = await database.owner.query<{ chain_id: number; account_id: string }>(
		"select chain_id, account_id from delegation_removals",
	);
	const onChain = Object.groupBy(rows, ({ chain_id }) => String(chain_id));
	expect([onChain["1"]?.length, onChain["2"]?.length]).toEqual([9, 4]);
	for (const own of Map.groupBy(rows, ({ account_id }) => account_id).values()) {
		expect(own.length).toBeLessThanOrEqual(perDay.perAccount);
	}
	expect(results.filter((spent) => spent === undefined)).toHaveLength(13);
});
