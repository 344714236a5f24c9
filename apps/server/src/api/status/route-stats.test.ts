import { randomBytes, randomUUID } from "node:crypto";
import { newSwapUuid, orderToJson, statsResponseSchema, toSwapKey } from "@geoswap/protocol";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainOrder } from "../../../test/order/plain-order.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";
import { createRouteStats, routeStatsQuery } from "./route-stats.ts";

const _address: Address = "0x00000000000000000000000000000000000000a1";
const config = {
	chains: [{ chainId: 1 }, { chainId: 2 }, { chainId: 3 }, { chainId: 4, onlyAccounts: [] }],
} as unknown as Pick<Config, "chains">;
let database: TestDatabase;

/** Inserts swaps of a route. The i-th took i tenths of a second and delivered 10000 - i % 100 of 10000. */
async function insertSwaps(
	[origin, destination]: [bigint, bigint],
	{ count, status = "settled" }: { count: number; status?: string },
): Promise<void> {
	const uuids = Array.from({ length: count }, () =>
		newSwapUuid({ nowMs: Date.now() - 60_000, random: randomBytes(10) }),
	);
	const order = plainOrder({
		swapKey: toSwapKey(randomUUID()),
		originChainId: origin,
		destinationChainId: destination,
	});
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, status, created_at,
			decided_at, ended_at, delivered_amount)
		select id, $2, sha256(id::text::bytea), $3, 10000, 700, '{"kind": "inventory", "amount": "7"}', $4,
			now() - interval '1 minute', now() - interval '1 minute' + i * interval '100 milliseconds', now(),
			10000 - i % 100
		from unnest($1::uuid[]) with ordinality as x (id, i)`,
		[uuids, randomUUID(), orderToJson(order), status],
	);
}

beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	await insertSwaps([1n, 2n], { count: 250 });
	await insertSwaps([1n, 2n], { count: 300, status: "refunded" });
	await insertSwaps([2n, 1n], { count: 99 });
	await insertSwaps([3n, 1n], { count: 100 });
	await insertSwaps([1n, 4n], { count: 200 });
	await insertSwaps([1n, 9n], { count: 200 });
	await database.owner.query("analyze swaps");
}, 120_000);
afterAll(() => database.drop());

test("settled swaps have percentiles by route; rare routes and chains that are not public are left out [D-beyond-11]", async () => {
	const stats = createRouteStats({ db: database.pool, config, nowMs: Date.now });
	const answer = statsResponseSchema.strict().parse(await stats.read());
	expect(answer.routes).toEqual([
		{
			originChain: 1,
			destinationChain: 2,
			swaps: 200,
			secondsToSettled: { p50: 12.5, p90: 22.5, p95: 23.8 },
			deliveredBps: { p50: 9958, p90: 9913, p95: 9907 },
		},
		{
			originChain: 3,
			destinationChain: 1,
			swaps: 100,
			secondsToSettled: { p50: 5, p90: 9, p95: 9.5 },
			deliveredBps: { p50: 9950, p90: 9910, p95: 9905 },
		},
	]);
});

test("the response names no swap, wallet, account, token or exact number", async () => {
	const stats = createRouteStats({ db: database.pool, config, nowMs: Date.now });
	const text = JSON.stringify(await stats.read());
	expect(text).not.toMatch(/0x|swp_|[0-9a-f]{8}-|250/);
});

test("the figures are computed once in five minutes, regardless of how many concurrent requests there are, and again after that", async () => {
	let queries = 0;
	let nowMs = Date.now();
	const query = (...args: Parameters<Database["query"]>) => {
		queries++;
		return database.pool.query(...args);
	};
	const stats = createRouteStats({ db: { query } as unknown as Database, config, nowMs: () => nowMs });
	expect(stats.known()).toBeUndefined();
	const answers = await Promise.all(Array.from({ length: 20 }, () => stats.read()));
	expect(queries).toBe(1);
	expect(stats.known()).toEqual(answers[0]);
	nowMs += 299_999;
	await stats.read();
	expect(queries).toBe(1);
	nowMs += 1;
	expect(stats.known()).toEqual(answers[0]);
	await stats.read();
	expect(queries).toBe(2);
});

test("a database that does not respond leaves the last figures on the page, and is not queried with every view", async () => {
	let [queries, isDown, nowMs] = [0, false, Date.now()];
	const query = async (...args: Parameters<Database["query"]>) => {
		queries++;
		if (isDown) throw new Error("connection refused");
		return database.pool.query(...args);
	};
	const stats = createRouteStats({ db: { query } as unknown as Database, config, nowMs: () => nowMs });
	const first = await stats.read();
	isDown = true;
	nowMs += 300_000;
	await expect(stats.read()).rejects.toThrow("connection refused");
	for (let view = 0; view < 10; view++) expect(stats.known()).toEqual(first);
	expect(queries).toBe(2);
});

type Plan = { "Node Type": string; "Index Name"?: string; Plans?: Plan[] };

test("the figures are read by the index of ended swaps", async () => {
	const { text, values } = routeStatsQuery({ nowMs: Date.now() });
	const client = await database.owner.connect();
	try {
		// On a test's few rows a scan of the table would be cheaper.
		await client.query("set enable_seqscan = off");
		const { rows } = await client.query(`explain (format json) ${text}`, values);
		const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
		const scans = flat(rows[0]["QUERY PLAN"][0].Plan).filter((node) => node["Index Name"] !== undefined);
		expect(scans.length).toBeGreaterThan(0);
		for (const scan of scans) expect(scan["Index Name"]).toMatch(/_ended_at_idx$/);
	} finally {
		client.release(true);
	}
});
