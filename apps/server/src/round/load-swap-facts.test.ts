import { addressOfWord } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, originId } from "../../test/swap/swap-scene.ts";
import type { Database } from "../database/database.ts";
import { loadSwapFacts } from "./load-swap-facts.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

const attestersOf = () => ({ attesters: [], chainIds: [], heartbeatSeconds: 1, sightSeconds: 1 });

test("the claim of a credit is found by its beneficiary, regardless of the number of other events", async () => {
	const { owner, pool } = database;
	const scene = await createSwapScene(pool);
	await scene.emit("Refunded", originId, { paid: false });
	const { wallet, inputToken } = anyOrder();
	const [beneficiary, token] = [wallet, inputToken].map((word) => addressOfWord(BigInt(originId), word));
	await owner.query(
		`insert into chain_events select $1, 1000 + i, 1, '\\x00', '\\x01', '\\x00', null, 'RentReturned', '{"lamports": "1"}'
		from generate_series(1, 100000) i`,
		[originId],
	);
	// Other beneficiaries claim too.
	await owner.query(
		`insert into chain_events select $1, 200000 + i, 1, '\\x00', '\\x01', '\\x00', null, 'Claimed',
			jsonb_build_object('beneficiary', case i when 5 then $2 else 'somebody ' || i end, 'token', $3::text)
		from generate_series(1, 1000) i`,
		[originId, beneficiary, token],
	);
	await owner.query("analyze chain_events");
	let buffers: number | undefined;
	const explaining = {
		query: async (statement: { name?: string; text: string; values: unknown[] }) => {
			if (statement.name === "look-claim") {
				const { text, values } = statement;
				const { rows } = await pool.query(`explain (analyze, buffers, format json) ${text}`, values);
				const { Plan: plan } = rows[0]["QUERY PLAN"][0];
				buffers = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
			}
			return pool.query(statement);
		},
	} as Database;
	const [look] = await loadSwapFacts(explaining, { swapIds: [scene.uuid], attestersOf, nowMs: Date.now() });
	expect(look?.read().facts).toMatchObject({ swap: { id: scene.uuid }, claimed: { blockNumber: 200_005 } });
	expect(buffers).toBeLessThan(50);
});
