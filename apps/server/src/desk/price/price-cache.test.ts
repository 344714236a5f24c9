import { movePrice, startTestChains, type TestChains } from "@geoswap/devnet";
import fc from "fast-check";
import { type Address, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readTestPrices, testConfig, testPriceCache, withSolana } from "../../../test/desk/test-prices.ts";
import { testSolanaDeployment } from "../../../test/order/test-solana-deployment.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import {
	type AssetPrices,
	type BlockPrices,
	type Ladder,
	readBlockPrices,
} from "../../chain/evm/read/read-block-prices.ts";
import { createLog } from "../../telemetry/log.ts";
import { pollPrices } from "./keep-prices.ts";
import { createPriceTurns } from "./price-turns.ts";
import { convertDown } from "./usd-value.ts";

let chains: TestChains;
let prices: BlockPrices;
let nowMs: number;
beforeAll(async () => {
	chains = await startTestChains();
	prices = await readTestPrices(chains.origin);
	nowMs = prices.timestampUnixSeconds * 1_000;
});
afterAll(() => chains.stop());

const chainId = 31337;

function assetOf(symbol: string): Address {
	const asset = chains.origin.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no ${symbol}`);
	return asset.address;
}

function priceCacheOf(...blocks: BlockPrices[]) {
	return testPriceCache(testConfig(chains), blocks, { nowMs });
}

function withAsset(symbol: string, change: (before: AssetPrices) => Partial<AssetPrices>): BlockPrices {
	const before = prices.assets.get(assetOf(symbol));
	if (!before) throw new Error(`no ${symbol}`);
	return { ...prices, assets: new Map(prices.assets).set(assetOf(symbol), { ...before, ...change(before) }) };
}

/** Returns the ladders of a pool whose price deviates by this many percent. */
function scaled(ladders: Ladder[], percent: bigint): Ladder[] {
	return ladders.map(({ fees, rungs }) => ({
		fees,
		rungs: rungs.map(({ input, output }) => ({ input, output: (output * (100n + percent)) / 100n })),
	}));
}

describe("an asset is stopped", () => {
	const isLive = (block: BlockPrices, symbol = "WETH", atMs = nowMs) =>
		priceCacheOf(block).isLive({ chainId, asset: assetOf(symbol) }, { nowMs: atMs });

	test("not while feeds and pools are fresh and agree", () => {
		for (const { symbol } of chains.origin.deployment.assets) expect(isLive(prices, symbol)).toBe(true);
	});

	test("once its feed, or the settlement token's, is older than its heartbeat", () => {
		const old = { updatedAtUnixSeconds: prices.timestampUnixSeconds - 2 * 3_600 };
		expect(isLive(withAsset("WETH", ({ feed }) => ({ feed: { ...feed, ...old } })))).toBe(false);
		const older = { updatedAtUnixSeconds: prices.timestampUnixSeconds - 25 * 3_600 };
		expect(isLive(withAsset("USDC", ({ feed }) => ({ feed: { ...feed, ...older } })))).toBe(false);
	});

	test("once its feed gives no price", () => {
		expect(
			isLive(
				withAsset("ORB", ({ feed }) => ({ feed: { ...feed, usdE18: 0n } })),
				"ORB",
			),
		).toBe(false);
	});

	test.each([4n, -4n])("once its pools are %s percent away from the feed", (percent) => {
		const moved = withAsset("WETH", ({ buy, sell }) => ({
			buy: scaled(buy, -percent),
			sell: scaled(sell, percent),
		}));
		expect(isLive(moved)).toBe(false);
		expect(isLive(moved, "ORB")).toBe(true);
	});

	test("once its chain has had no new block for 15 seconds", () => {
		expect(isLive(prices, "USDC", nowMs + 14_000)).toBe(true);
		expect(isLive(prices, "USDC", nowMs + 16_000)).toBe(false);
		expect(priceCacheOf(prices).isReady(chainId, { nowMs: nowMs + 16_000 })).toBe(false);
		expect(priceCacheOf().isReady(chainId, { nowMs })).toBe(false);
	});

	test("a minute after its chain's last block, regardless of how long the previous block took", () => {
		const before = { ...prices, blockNumber: prices.blockNumber - 1, timestampUnixSeconds: 1_000_000_000 };
		const priceCache = priceCacheOf(before, prices);
		expect(priceCache.isReady(chainId, { nowMs: nowMs + 59_000 })).toBe(true);
		expect(priceCache.isReady(chainId, { nowMs: nowMs + 61_000 })).toBe(false);
	});
});

test("no price is better than the feeds by more than the margin", () => {
	for (const symbol of ["ETH", "WETH", "ORB", "USDT"]) {
		const asset = assetOf(symbol);
		const generous = priceCacheOf(
			withAsset(symbol, ({ buy, sell }) => ({ buy: scaled(buy, 2n), sell: scaled(sell, 2n) })),
		);
		const [own, settlement] = [asset, assetOf("USDC")].map((id) =>
			generous.reference({ chainId, asset: id }),
		);
		if (!own || !settlement) throw new Error("no reference");
		fc.assert(
			fc.property(fc.bigInt(1_000_000n, 400_000_000_000n), (budget) => {
				const bought = generous.buy({ chainId, asset, budget })?.output ?? 0n;
				expect(bought * 1_000n).toBeLessThanOrEqual(convertDown(budget, settlement, own) * 1_001n);
				const amount = convertDown(budget, settlement, own);
				const sold = generous.sell({ chainId, asset, amount }) ?? 0n;
				expect(sold * 1_000n).toBeLessThanOrEqual(budget * 1_001n);
			}),
			{ numRuns: 50 },
		);
	}
});

test("a price is the worst of the last three blocks", () => {
	const asset = assetOf("WETH");
	const amount = 10n ** 18n;
	const pushed = withAsset("WETH", ({ sell }) => ({ sell: scaled(sell, -1n) }));
	const low = priceCacheOf(pushed).sell({ chainId, asset, amount });
	const normal = priceCacheOf(prices).sell({ chainId, asset, amount });
	expect(low).toBeLessThan(normal ?? 0n);
	expect(priceCacheOf(pushed, prices, prices).sell({ chainId, asset, amount })).toBe(low);
	expect(priceCacheOf(prices, prices, pushed).sell({ chainId, asset, amount })).toBe(low);
	expect(priceCacheOf(pushed, prices, prices, prices).sell({ chainId, asset, amount })).toBe(normal);
});

test("volume in flight lowers a price and uses up the end of the ladder", () => {
	const asset = assetOf("ORB");
	const priceCache = priceCacheOf(prices);
	const budget = 10_000_000_000n;
	const alone = priceCache.buy({ chainId, asset, budget })?.output ?? 0n;
	expect(priceCache.buy({ chainId, asset, budget, inFlight: 100_000_000_000n })?.output).toBeLessThan(alone);
	expect(priceCache.buy({ chainId, asset, budget, inFlight: 495_000_000_000n })).toBeUndefined();
});

test("the price cache follows the chain block by block", async () => {
	const { origin } = chains;
	const chain = connectChain({ chainId, rpcUrl: origin.rpcUrl, deployment: origin.deployment });
	const priceCache = priceCacheOf();
	// The chain's last block may be as old as the other tests of this file took.
	await origin.testClient.mine({ blocks: 1 });
	const stopping = new AbortController();
	const turns = createPriceTurns({ pollMs: 20, nowMs: Date.now, signal: stopping.signal });
	void turns.want();
	const kept = pollPrices({
		chain,
		priceCache,
		topUsd: 500_000,
		tips: { minimum: 0n, maximum: 1_000_000_000n },
		turns,
		nowMs: Date.now,
		signal: stopping.signal,
		log: createLog({ level: "silent", process: "test" }),
	});
	const asset = assetOf("ORB");
	const amount = 1_000n * 10n ** 18n;
	await vi.waitFor(() => expect(priceCache.isReady(chainId, { nowMs: Date.now() })).toBe(true), {
		timeout: 15_000,
	});
	const before = priceCache.sell({ chainId, asset, amount }) ?? 0n;
	await movePrice(origin, origin.deployment, { symbol: "ORB", percent: "5" });
	const reference = () => priceCache.reference({ chainId, asset }).usdE18;
	await vi.waitFor(() => expect(reference()).toBe(2_625n * 10n ** 15n), { timeout: 15_000 });
	expect(priceCache.isLive({ chainId, asset }, { nowMs: Date.now() })).toBe(true);
	await vi.waitFor(
		async () => {
			await origin.testClient.mine({ blocks: 1 });
			expect(priceCache.sell({ chainId, asset, amount })).toBeGreaterThan((before * 104n) / 100n);
		},
		{ timeout: 15_000, interval: 100 },
	);
	stopping.abort();
	await kept;
});

test("a block without changes reuses the prices of the previous block, and a block with a trade does not", async () => {
	const { origin } = chains;
	const chain = connectChain({ chainId, rpcUrl: origin.rpcUrl, deployment: origin.deployment });
	const read = async (previous?: BlockPrices) => {
		await origin.testClient.mine({ blocks: 1 });
		return readBlockPrices(chain, { block: await chain.client.getBlock(), topUsd: 500_000, previous });
	};
	const first = await read(await read());
	const quiet = await read(first);
	expect(quiet.assets).toBe(first.assets);
	expect(quiet.blockNumber).toBe(first.blockNumber + 1);
	expect(quiet.assets).toEqual((await read()).assets);
	await movePrice(origin, origin.deployment, { symbol: "ORB", percent: "-5" });
	const moved = await read(quiet);
	expect(moved.assets).not.toEqual(quiet.assets);
	expect(moved.assets).toEqual((await read()).assets);
});

test("feeds for another chain's assets are read in the same call, and only on the chain that has them", async () => {
	const { origin, destination } = chains;
	const solana = testSolanaDeployment(origin.deployment);
	const feeds = solana.assets.map(({ feed }) => feed.address);
	const chain = connectChain({ chainId, rpcUrl: origin.rpcUrl, deployment: origin.deployment });
	const block = await chain.client.getBlock();
	const previous = await readBlockPrices(chain, { block, topUsd: 500_000 });
	const calls = vi.spyOn(chain.client, "call");
	const read = await readBlockPrices(chain, {
		block,
		topUsd: 500_000,
		previous,
		feedsForOthers: feeds,
	});
	expect(calls).toHaveBeenCalledTimes(1);
	expect([...read.assets.keys()]).toEqual([...prices.assets.keys()]);
	const readAtMs = read.timestampUnixSeconds * 1_000;
	const config = withSolana(testConfig(chains), { deployment: solana });
	const priceCache = testPriceCache(config, [read], { nowMs: readAtMs });
	const sol = { chainId: solana.chainId, asset: zeroHash };
	expect(priceCache.reference(sol)).toEqual({ decimals: 9, usdE18: 150n * 10n ** 18n });
	expect(priceCache.isLive(sol, { nowMs: readAtMs })).toBe(true);
	expect(priceCache.isLive(sol, { nowMs: readAtMs + 16_000 })).toBe(false);
	expect(priceCache.isReady(solana.chainId, { nowMs: readAtMs })).toBe(true);
	expect(await readTestPrices(destination, solana)).toMatchObject({ chainId: destination.chainId });
	// Without a reading of its feed the asset has no price.
	const without = testPriceCache(config, [prices], { nowMs: readAtMs });
	expect(without.isLive(sol, { nowMs: readAtMs })).toBe(false);
	expect(() => without.reference(sol)).toThrow("no price");
});

test("a node that does not respond is an error, and not empty prices", async () => {
	const { origin } = chains;
	const block = await origin.publicClient.getBlock();
	const chain = connectChain({ chainId, rpcUrl: "http://127.0.0.1:1", deployment: origin.deployment });
	await expect(readBlockPrices(chain, { block, topUsd: 500_000, previous: prices })).rejects.toThrow();
});
