import { randomBytes, randomUUID } from "node:crypto";
import { newSwapUuid, type Order, orderToJson, packDeadlines, toSwapKey, toWord } from "@geoswap/protocol";
import { zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { ensureAccount } from "./accounts.ts";
import { findApiKeys, insertApiKeys } from "./api-keys.ts";
import { openDatabase } from "./database.ts";
import { look } from "./look.ts";
import { readSwap } from "./read-swap.ts";
import { createSwapReader } from "./swap-reader.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("columns that a later version adds break no statement that is prepared on an open connection", async () => {
	const { pool } = database;
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const word = toWord("0x00000000000000000000000000000000000000a1");
	const order: Order = {
		...{ originChainId: 31337n, destinationChainId: 31338n, attesterSet: zeroHash },
		...{ escrow: word, originVault: word, destinationVault: word, wallet: word, recipient: word },
		...{ inputToken: word, outputToken: word, inputAmount: 10n, minOutput: 5n, swapKey: toSwapKey(uuid) },
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
	await pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 7, 700, '{"kind": "stock", "amount": "7"}')`,
		[uuid, randomBytes(32), orderToJson(order)],
	);
	await pool.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number)
		values (31337, 1, '', 1, 1, 1, 1, 1), (31338, 1, '', 1, 1, 1, 1, 1)`,
	);
	const accountId = await ensureAccount(pool, { id: randomUUID(), name: "test" });
	await insertApiKeys(pool, { keys: [{ id: "key", hash: randomBytes(32) }], accountId });

	const one = openDatabase({ url: database.url, applicationName: "test", max: 1 });
	try {
		const readAll = async () => {
			expect(await readSwap(one, uuid)).toMatchObject({ id: uuid });
			expect(await createSwapReader({ db: one }).read(uuid)).toMatchObject({ id: uuid });
			expect(await findApiKeys(one, ["key"])).toMatchObject([{ id: "key" }]);
			const nobody = { attesters: [], chainIds: [], heartbeatSeconds: 1, sightSeconds: 1 };
			const seen = await look(one, {
				...{ swapId: uuid, execution: 0, signalId: "signal", nowMs: Date.now() },
				attestersOf: () => nobody,
			});
			expect(seen).toMatchObject({ swap: { id: uuid }, jobs: {} });
		};
		await readAll();
		for (const table of ["swaps", "jobs", "api_keys", "accounts"]) {
			await pool.query(`alter table ${table} add column later text`);
		}
		await readAll();
	} finally {
		await one.end();
	}
});
