import { type SwapUuid, solanaChainId, toSolanaWord, toSwapId } from "@geoswap/protocol";
import { address } from "@solana/kit";
import { pino } from "pino";
import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, originId } from "../../test/swap/swap-scene.ts";
import { keepSpans } from "../../test/telemetry/keep-spans.ts";
import type { LaneTransaction } from "../job/journal/lane-transactions.ts";
import { traceTransaction } from "./trace-transaction.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

const log = pino({ level: "silent" });
const relayer: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const anySwapId: SwapUuid = "019a0000-0000-7000-8000-000000000001";
const traceIds = ["0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"];
const sent = { name: "transaction sent", startMs: Date.now(), outcome: "sent" } as const;

function carrying(swapIds: SwapUuid[], hash: Hex): LaneTransaction {
	return {
		nonce: 7,
		attempt: 1,
		hash,
		raw: "0x02c0ffee",
		kind: "fill",
		jobs: swapIds.map((swapId) => ({ swapId, kind: "fill", orderId: "0x01" })),
		maxFeePerGas: 1n,
		state: "signed",
		sentAtBlock: 1,
	};
}

test("a bundle is a span in the trace of each of its swaps, with the same hash and without its bytes", async () => {
	const swapIds: SwapUuid[] = [];
	for (const trace of [...traceIds.map((id) => `00-${id}-b7ad6b7169203331-01`), null]) {
		const { uuid } = await createSwapScene(database.pool, { isReserved: false });
		await database.pool.query("update swaps set trace = $2 where id = $1", [uuid, trace]);
		swapIds.push(uuid);
	}
	const { tracer, spans } = keepSpans();
	const lane = { tracer, pool: database.pool, log, id: { chainId: originId, relayer } };
	await traceTransaction(lane, carrying(swapIds, "0xabcd"), sent);
	const kept = (await spans()).toSorted((a, b) => (a.traceId < b.traceId ? -1 : 1));
	expect(kept.map(({ traceId }) => traceId)).toEqual(traceIds);
	expect(kept.map(({ attributes }) => attributes)).toEqual(
		swapIds.slice(0, 2).map((swapId) => ({
			swapId: toSwapId(swapId),
			chainId: originId,
			hash: "0xabcd",
			relayer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
			nonce: 7,
			attempt: 1,
			kind: "fill",
			bundled: 3,
			outcome: "sent",
		})),
	);
	expect(JSON.stringify(kept)).not.toContain("c0ffee");
});

test("on Solana a span has the transaction and the fee payer in base58", async () => {
	const { uuid } = await createSwapScene(database.pool, { isReserved: false });
	await database.pool.query("update swaps set trace = $2 where id = $1", [
		uuid,
		`00-${traceIds[0]}-b7ad6b7169203331-01`,
	]);
	const { tracer, spans } = keepSpans();
	const feePayer = address("9iZbn1sFvmYzbEs9LvDqg3bJTnJyMkHNRfJ1vuDZh8Fe");
	const id = { chainId: solanaChainId, relayer: toSolanaWord(feePayer) };
	const signature: Hex = `0x${"01".repeat(64)}`;
	await traceTransaction({ tracer, pool: database.pool, log, id }, carrying([uuid], signature), sent);
	expect(await spans()).toMatchObject([
		{ attributes: { relayer: feePayer, hash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/) } },
	]);
});

test("a lane continues if the database does not respond or nothing is traced", async () => {
	const { tracer } = keepSpans();
	const pool = { query: () => Promise.reject(new Error("no database")) } as unknown as TestDatabase["pool"];
	const id = { chainId: originId, relayer };
	await traceTransaction({ tracer, pool, log, id }, carrying([anySwapId], "0x01"), sent);
	const unasked = {
		query: () => {
			throw new Error("nobody asks");
		},
	} as unknown as TestDatabase["pool"];
	await traceTransaction({ pool: unasked, log, id }, carrying([anySwapId], "0x01"), sent);
	await traceTransaction({ tracer, pool: unasked, log, id }, carrying([], "0x01"), sent);
});
