import { startTestChains, type TestChains } from "@geoswap/devnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInventoryMarket } from "../../../test/desk/inventory-market.ts";
import { readTestPrices, testConfig, withInventoryOf } from "../../../test/desk/test-prices.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";

let chains: TestChains;
let database: TestDatabase;
let prices: BlockPrices[];
beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "api" })]);
	prices = await Promise.all([readTestPrices(chains.origin), readTestPrices(chains.destination)]);
});
afterAll(async () => {
	await Promise.all([chains.stop(), database.drop()]);
});

const quotes = process.env.GEOSWAP_FULL ? 10_000 : 1_000;
const seed = Number(process.env.GEOSWAP_SEED);

test("of quotes that are all submitted, at most one in a thousand is refused for lack of inventory", async () => {
	const { outcomes, ...counts } = await run({ settlement: 200_000, native: 20_000 });
	console.info({ ...counts, ...outcomes });
	expect(counts.refusedAtQuote).toBeGreaterThan(0);
	expect(counts.fromInventory).toBeGreaterThan(0);
	expect(lacking(outcomes)).toBeLessThanOrEqual(quotes / 1_000);
}, 900_000);

test("no submit is refused for lack of inventory while the vaults hold enough for all", async () => {
	const { outcomes, ...counts } = await run({ settlement: 5_000_000, native: 500_000 }, quotes / 5);
	console.info({ ...counts, ...outcomes });
	expect(counts).toMatchObject({ refusedAtQuote: 0, issued: quotes / 5 });
	expect(lacking(outcomes)).toBe(0);
}, 900_000);

function run(inventoryUsd: { settlement: number; native: number }, ofQuotes = quotes) {
	return runInventoryMarket({
		config: withInventoryOf("ETH", testConfig(chains)),
		prices,
		nowMs: Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250,
		database,
		inventoryUsd,
		quotes: ofQuotes,
		quotesPerHour: 240,
		seed,
	});
}

function lacking({ inventory = 0, share = 0 }: Record<string, number>): number {
	return inventory + share;
}
