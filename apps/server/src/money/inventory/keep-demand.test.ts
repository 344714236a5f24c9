import { randomBytes, randomUUID } from "node:crypto";
import { newSwapUuid } from "@geoswap/protocol";
import { type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { openDatabase } from "../../database/database.ts";
import { ensurePartitions } from "../../database/migrate.ts";
import { keepDemand } from "./keep-demand.ts";

const usdc = { chainId: 1, token: tokenOf(1) };
const ether = { chainId: 2, token: tokenOf(2) };
const dayMs = 86_400_000;
const accountId = randomUUID();

let database: TestDatabase;
let nowMs: number;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	await ensurePartitions(database.owner, { nowMs: Date.now() - 8 * dayMs, daysAhead: 9 });
});
afterAll(() => database.drop());
beforeEach(async () => {
	nowMs = Date.now();
	await database.owner.query("truncate demand, quoted_volume, swaps");
});

test("what submitted swaps take and bring is added to their minute, by all processes together", async () => {
	const pools = [database.pool, openDatabase({ url: database.url, applicationName: "test" })];
	const logs = pools.map((pool) => keepDemand({ pool, nowMs: () => nowMs }));
	for (let i = 0; i < 5; i++) {
		for (const log of logs)
			log.served({ taken: { ...ether, amount: 7n }, brought: { ...usdc, amount: 100n } });
		await Promise.all(logs.map((log) => log.flush()));
	}
	nowMs += 60_000;
	logs[0]?.served({ taken: { ...usdc, amount: 3n }, brought: { ...usdc, amount: 4n } });
	await Promise.all(logs.map((log) => log.close()));
	await pools[1]?.end();
	expect(await demand()).toEqual([
		{ chain_id: 1, outflow: 0n, inflow: 1_000n },
		{ chain_id: 1, outflow: 3n, inflow: 4n },
		{ chain_id: 2, outflow: 70n, inflow: 0n },
	]);
});

test("an account that has settled nothing adds nothing, however much it requests", async () => {
	await settle({ usdCents: 1_000_000, of: randomUUID() });
	await settle({ usdCents: 1_000_000, agoMs: 8 * dayMs });
	await refuse({ usdCents: 500n, amount: 1_000n });
	expect(await demand()).toEqual([]);
});

test("what an account was refused counts by the share of its quoted volume of a week that it settled", async () => {
	await settle({ usdCents: 200, agoMs: 6 * dayMs });
	await settle({ usdCents: 100 });
	const log = keepDemand({ pool: database.pool, nowMs: () => nowMs });
	log.quoted({ accountId, valueUsdCents: 500n });
	await log.close();
	await refuse({ usdCents: 500n, amount: 1_001n });
	expect(await demand()).toEqual([
		{ chain_id: 1, outflow: 0n, inflow: 300n },
		{ chain_id: 2, outflow: 300n, inflow: 0n },
	]);
});

test("what an account was refused never counts for more than it is", async () => {
	await settle({ usdCents: 1_000_000 });
	await refuse({ usdCents: 10n, amount: 1_000n });
	expect(await demand()).toMatchObject([{ inflow: 1_000n }, { outflow: 1_000n }]);
});

test("an account that repeats a request adds no more than a few times what it settled", async () => {
	await settle({ usdCents: 1_000 });
	for (let i = 0; i < 200; i++) await refuse({ usdCents: 1_000n, amount: 1_000n });
	const [brought] = await demand();
	expect(brought?.inflow).toBeLessThan(6_000n);
});

test("rows older than a week are deleted", async () => {
	await settle({ usdCents: 1_000 });
	await refuse({ usdCents: 10n, amount: 1_000n });
	nowMs += 8 * dayMs + 60_000;
	const log = keepDemand({ pool: database.pool, nowMs: () => nowMs });
	await log.close();
	expect(await demand()).toEqual([]);
	expect((await database.owner.query("select from quoted_volume")).rowCount).toBe(0);
});

test("a minute has at most 10,000 flows, and a database that does not answer loses only its minute", async () => {
	const failures: unknown[] = [];
	const log = keepDemand({
		pool: database.pool,
		nowMs: () => nowMs,
		onError: (error) => failures.push(error),
	});
	for (let i = 1; i <= 12_000; i++) {
		log.served({ taken: { ...ether, amount: 1n }, brought: { chainId: 1, token: tokenOf(i), amount: 1n } });
	}
	await log.flush();
	expect(await demand()).toHaveLength(10_000);
	await database.owner.query("alter table demand rename to gone");
	log.served({ taken: { ...ether, amount: 1n }, brought: { ...usdc, amount: 1n } });
	await log.flush();
	await database.owner.query("alter table gone rename to demand");
	expect(failures).toHaveLength(1);
	await log.close();
	expect((await demand()).find(({ chain_id }) => chain_id === 2)?.outflow).toBe(12_000n);
});

async function refuse({ usdCents, amount }: { usdCents: bigint; amount: bigint }): Promise<void> {
	const log = keepDemand({ pool: database.pool, nowMs: () => nowMs });
	log.refused({
		accountId,
		valueUsdCents: usdCents,
		taken: { ...ether, amount },
		brought: { ...usdc, amount },
	});
	await log.close();
}

async function settle({
	usdCents,
	agoMs = 0,
	of = accountId,
}: {
	usdCents: number;
	agoMs?: number;
	of?: string;
}): Promise<void> {
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, status, stage, ended_at)
		values ($1, $2, $3, '{}', 1, $4, '{"kind": "inventory", "amount": "1"}', 'settled', 'delivered', now())`,
		[newSwapUuid({ nowMs: nowMs - agoMs, random: randomBytes(10) }), of, randomBytes(32), usdCents],
	);
}

async function demand(): Promise<{ chain_id: number; outflow: bigint; inflow: bigint }[]> {
	const { rows } = await database.owner.query(
		"select chain_id, outflow, inflow from demand order by chain_id, token, minute",
	);
	return rows;
}

function tokenOf(n: number): Hex {
	return numberToHex(n, { size: 20 });
}
