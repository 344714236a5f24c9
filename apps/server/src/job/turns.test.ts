import { randomBytes, randomUUID } from "node:crypto";
import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SwapUuid,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { type Address, bytesToHex, hexToBytes, zeroHash } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { queueJob } from "../../test/lane/queue-job.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { submitSwap } from "../api/submit/submit-swap.ts";
import type { Database } from "../database/database.ts";
import { raiseNonce } from "./journal/lane-transactions.ts";
import { takeBundle } from "./take-jobs.ts";

const usdc: Address = "0x00000000000000000000000000000000000000c1";
const lane = { chainId: 1, relayer: "0x00000000000000000000000000000000000000b1" } as const;
const lease = { headNumber: 100, leaseMs: 60_000, releasesOnly: false };

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await raiseNonce(database.pool, lane, 0);
});
afterAll(() => database.drop());
beforeEach(async () => {
	await database.owner.query("truncate swaps, swap_events, reservations, inventory, jobs");
	await database.owner.query(
		"insert into inventory (chain_id, token, balance, outflow_available, block_number) values (2, $1, 1e9, 1e9, 1)",
		[hexToBytes(usdc)],
	);
});

test("an account with 40 queued opens does not delay others, because the next turn goes to another account", async () => {
	const [greedy, other, third] = [randomUUID(), randomUUID(), randomUUID()];
	for (let i = 0; i < 40; i++) await submit(greedy);
	expect(await serve()).toBe(greedy);
	const late = [await submit(other), await submit(third), await submit(other)];
	expect(late).toHaveLength(3);
	const served = [];
	for (let i = 0; i < 6; i++) served.push(await serve());
	expect(served).toEqual([greedy, other, third, greedy, other, greedy]);
});

test("concurrent submits of one account get different turns", async () => {
	const accountId = randomUUID();
	await Promise.all(Array.from({ length: 20 }, () => submit(accountId)));
	const { rows } = await database.owner.query("select turn from jobs order by turn");
	expect(rows.map(({ turn }) => turn)).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test("an open that the chain refused goes behind opens that it did not refuse", async () => {
	const [first, second] = [randomUUID(), randomUUID()];
	const failed = await submit(first);
	await database.owner.query("update jobs set failures = 1 where swap_id = $1", [failed]);
	await submit(second);
	expect(await serve()).toBe(second);
	expect(await serve()).toBe(first);
});

test("the next jobs of 10,000 queued ones are found by an index, without sorting them", async () => {
	const { owner } = database;
	const order = newOrder(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }), randomBytes(20));
	// A hundred accounts with a hundred each, half of them first swaps, which share no bundle.
	await owner.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, turn)
		select gen_random_uuid(), 'open', 1, '', $1,
			case i % 2 when 0 then '{"op": {}}'::jsonb else '{"op": {"authorization": {}}}' end, 'queued', 4, i / 100
		from generate_series(0, 9999) i`,
		[orderToJson(order)],
	);
	await owner.query("analyze jobs");
	let plan = "";
	const explaining: Database = {
		query: async ({ text, values }: { text: string; values: unknown[] }) => {
			const { rows } = await owner.query(`explain (analyze) ${text}`, values);
			plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
			return { rows: [] };
		},
	} as never;
	await takeBundle(explaining, lane, { ...lease, limit: 20 });
	const ms = Number(/Execution Time: ([\d.]+) ms/.exec(plan)?.[1]);
	console.log(`20 of 10,000 jobs are leased in ${ms} ms`);
	expect(plan).not.toContain("Seq Scan on jobs");
	// Only the twenty that were picked are sorted.
	for (const [, rows] of plan.matchAll(/Sort .*actual time=\S+ rows=(\d+)/g)) {
		expect(Number(rows)).toBeLessThanOrEqual(20);
	}
	expect(plan.match(/Index Scan using jobs_queued/g)?.length).toBeGreaterThanOrEqual(2);
	expect(ms).toBeLessThan(100);
});

/** Submits a swap of the account from a separate wallet, with its open in the queue. */
async function submit(accountId: string): Promise<SwapUuid> {
	const id = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order = newOrder(id, randomBytes(20));
	const op = {
		delegate: usdc,
		gas: 1n,
		signatureKind: "personal",
		signature: "0x00",
	} as const;
	const { outcome } = await submitSwap(database.pools.api, {
		swap: {
			id,
			accountId,
			order,
			output: 1n,
			valueUsdCents: 1n,
			feeMillibps: 0,
			delivery: { kind: "inventory", amount: 1n },
			op,
		},
		pairs: [],
		reserve: () => ({
			delivery: { kind: "inventory", amount: 1n },
			chainId: 2,
			token: usdc,
			amount: 1n,
			volumes: [],
		}),
		isOpened: false,
		admit: () => {},
		countedOrders: [],
		limits: { shareOfInventory: 1, unopenedUsdCents: undefined, reservationSeconds: 60 },
		nowMs: Date.now,
	});
	expect(outcome).toBe("created");
	await queueJob(database.pool, {
		swapId: id,
		kind: "open",
		chainId: 1,
		orderId: orderId(order),
		order,
		payload: { op },
		state: "queued",
	});
	return id;
}

/** Sends the job that goes next. Returns its account. */
async function serve(): Promise<string> {
	const leased = await takeBundle(database.pool, lane, { ...lease, limit: 1 });
	const [job] = leased?.jobs ?? [];
	if (!job) throw new Error("nothing is queued");
	await database.owner.query("update jobs set state = 'sent' where swap_id = $1", [job.swapId]);
	const { rows } = await database.owner.query("select account_id from swaps where id = $1", [job.swapId]);
	return rows[0].account_id;
}

function newOrder(id: SwapUuid, wallet: Uint8Array): Order {
	const word = toWord(bytesToHex(wallet));
	return {
		originChainId: 1n,
		destinationChainId: 2n,
		escrow: toWord(usdc),
		originVault: word,
		destinationVault: word,
		attesterSet: zeroHash,
		wallet: word,
		inputToken: toWord(usdc),
		inputAmount: 77n,
		outputToken: toWord(usdc),
		minOutput: 1n,
		recipient: word,
		topUp: 0n,
		swapKey: toSwapKey(id),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
}
