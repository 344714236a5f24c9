import { startTestChains, type TestChains } from "@geoswap/devnet";
import { addressOfWord, mulDivUp, type QuoteRequest, SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import { zeroAddress } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache, withInventoryOf } from "../../test/desk/test-prices.ts";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import type { Config } from "../config/config.ts";
import { createDesk } from "./create-desk.ts";
import type { Desk } from "./desk.ts";
import { deskChains } from "./desk-chain.ts";
import { networkCost } from "./network-cost.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { convertUp } from "./price/usd-value.ts";

const [one, two] = [31337, 31338];
const ether = 10n ** 18n;
const none = { sell: 0n, buy: 0n };

let chains: TestChains;
let prices: BlockPrices[];
let nowMs: number;
/** What each vault has of each token. */
let free: bigint;
let isCurrent: boolean;
beforeAll(async () => {
	chains = await startTestChains();
	prices = await Promise.all([readTestPrices(chains.origin), readTestPrices(chains.destination)]);
	nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250;
});
afterAll(() => chains.stop());
beforeEach(() => {
	free = 10n ** 40n;
	isCurrent = true;
});

test("an output of a configured asset comes from inventory, for the ladder's price and less gas", () => {
	const bought = deskWith(testConfig(chains)).quote(request("USDC", "ETH"));
	const quote = deskWith().quote(request("USDC", "ETH"));
	expect(bought.delivery.kind).toBe("router");
	expect(quote.delivery).toEqual({ kind: "inventory", amount: quote.output });
	expect(quote.networkCost).toBeLessThan(bought.networkCost);
	const cache = priceCacheOf(testConfig(chains));
	const budget = bought.delivery.kind === "router" ? bought.delivery.budget : 0n;
	const asset = { chainId: two, asset: zeroAddress };
	const saved = bought.networkCost - quote.networkCost;
	// The vault pays another volatile token than the one that buys it, so the option of a recipient who refuses costs more.
	expect(quote.output).toBeLessThanOrEqual(cache.buy({ ...asset, budget: budget + saved })?.output ?? 0n);
	expect(quote.output).toBeGreaterThan(((cache.buy({ ...asset, budget })?.output ?? 0n) * 998n) / 1_000n);
});

test("an asset that is not configured is bought, whatever the vault holds", () => {
	expect(deskWith().quote(request("USDC", "ORB")).delivery.kind).toBe("router");
});

test("what exceeds the free inventory is bought, and so is everything while the reading is old", () => {
	free = ether / 100n;
	expect(deskWith().quote(request("ETH", "ETH", ether)).delivery.kind).toBe("router");
	free = 10n ** 40n;
	isCurrent = false;
	expect(deskWith().quote(request("ETH", "ETH", ether)).delivery.kind).toBe("router");
});

test("the same asset on both sides costs fee, option and transactions only, and no ladder", () => {
	const config = withInventoryOf("ETH", testConfig(chains));
	const quote = deskWith(config).quote(request("ETH", "ETH", ether));
	const [origin, destination] = [one, two].map((chainId) => sideOf(config, chainId, "ETH"));
	if (!origin || !destination) throw new Error("both chains have ETH");
	const cache = priceCacheOf(config);
	const network = networkCost(cache, { origin, destination }, { marginBps: 200, isFromInventory: true });
	const settlement = { chainId: two, asset: destination.chain.settlementToken };
	const native = { chainId: two, asset: zeroAddress };
	const cost = convertUp(network, cache.reference(settlement), cache.reference(native));
	const fee = mulDivUp(ether, 125_00n, 10_000_000n);
	const option = mulDivUp(ether, 10n * BigInt(config.price.optionCentibps.stable), 10_000_000n);
	expect(quote.output).toBeLessThanOrEqual(ether - fee - option - cost);
	// The option of a recipient who can refuse is that of two stable tokens.
	expect(quote.output).toBeGreaterThan(ether - fee - 5n * option - cost);
	expect(quote.output).toBeGreaterThan(
		deskWith(testConfig(chains)).quote(request("ETH", "ETH", ether)).output,
	);
	expect(deskWith(config).volumes(quote)).toEqual([]);
});

test("tokens with one symbol are the same asset only if the deployment prices both by one reference", () => {
	const same = deskWith().quote(request("ETH", "ETH", ether)).output;
	const [one, other] = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`] as const;
	for (const ids of [[], [one], [one, other]]) {
		const config = withInventoryOf("ETH", testConfig(chains), ids);
		const { delivery, output } = deskWith(config).quote(request("ETH", "ETH", ether));
		expect(delivery.kind).toBe("inventory");
		expect(output).toBeLessThan(same);
	}
});

test("a submit reserves the output token, and what is paid later is at most what was quoted", () => {
	const desk = deskWith();
	for (const quote of [
		desk.quote(request("USDC", "ETH")),
		desk.quote(request("ETH", "ETH", ether)),
		desk.quote(request("ETH", "USDC", ether)),
	]) {
		const { delivery, output } = quote;
		expect(desk.reprice(quote, none)).toMatchObject({
			delivery,
			output,
			chainId: two,
			token: addressOfWord(quote.order.destinationChainId, quote.order.outputToken),
			amount: output,
		});
		expect(desk.deliveryNow(quote)).toEqual(delivery);
	}
});

test("a fill from inventory is lowered to what the input is worth when it is signed", () => {
	const quote = deskWith().quote(request("USDC", "ETH"));
	const config = withInventoryOf("ETH", testConfig(chains));
	const dearer = testPriceCache(config, prices.map(withDearerEther), { nowMs });
	const later = deskWith(config, dearer);
	expect(later.deliveryNow({ ...quote, order: { ...quote.order, minOutput: 1n } })).toMatchObject({
		kind: "inventory",
		amount: expect.toSatisfy((amount: bigint) => amount < quote.output),
	});
	expect(later.deliveryNow(quote)).toBe("below-minimum");
});

test("no chain of swaps of one asset returns more than was put in", () => {
	const desk = deskWith();
	const size = fc.bigInt({ min: ether / 100n, max: 20n * ether });
	fc.assert(
		fc.property(size, fc.integer({ min: 1, max: 6 }), (amount, hops) => {
			let held = amount;
			for (let hop = 0; hop < hops; hop++) {
				const { output } = desk.quote(request("ETH", "ETH", held, hop % 2 === 0 ? [one, two] : [two, one]));
				expect(output).toBeLessThan(held);
				held = output;
			}
		}),
	);
});

test("the largest amount that a refusal names is accepted, from inventory or bought", () => {
	free = 3n * ether;
	const error = refusal(request("ETH", "ETH", 10_000n * ether));
	const maximum = BigInt(error.maximumAmount ?? 0);
	expect(maximum).toBeGreaterThan(ether);
	expect(deskWith().quote(request("ETH", "ETH", maximum)).output).toBeGreaterThan(0n);
});

function priceCacheOf(config: Config): PriceCache {
	return testPriceCache(config, prices, { nowMs });
}

function deskWith(
	config = withInventoryOf("ETH", testConfig(chains)),
	priceCache = priceCacheOf(config),
): Desk {
	const { limits } = config;
	return createDesk({
		config: { ...config, limits: { ...limits, maxHoldingUsd: { perAsset: 1e40, bySymbol: {} } } },
		priceCache,
		inventory: {
			of: () => ({ balance: 10n * free, reserved: 0n, free, beingSold: 0n }),
			isCurrent: () => isCurrent,
		},
		nowMs: () => nowMs,
		random: (length) => new Uint8Array(length).fill(7),
	});
}

function sideOf(config: Config, chainId: number, symbol: string) {
	const chain = deskChains(config).get(chainId);
	const asset = chain?.assets.find((candidate) => candidate.symbol === symbol);
	if (!chain || !asset) throw new Error(`no ${symbol} on ${chainId}`);
	return { chain, asset };
}

function request(
	from: string,
	to: string,
	amount = 1_000_000_000n,
	[origin = one, destination = two] = [one, two],
): QuoteRequest {
	const config = testConfig(chains);
	return {
		originChain: origin,
		destinationChain: destination,
		inputToken: sideOf(config, origin, from).asset.address,
		outputToken: sideOf(config, destination, to).asset.address,
		amount,
		walletAddress: "0x1111111111111111111111111111111111111111",
		recipient: undefined,
		slippageBps: undefined,
	};
}

/** Raises the price of ETH by four percent, at its feed and in its pools. */
function withDearerEther(block: BlockPrices): BlockPrices {
	const assets = new Map(block.assets);
	const ether = assets.get(zeroAddress);
	if (!ether) throw new Error("the block prices the native token");
	const dearer = (ladders: typeof ether.buy, by: [bigint, bigint]) =>
		ladders.map((ladder) => ({
			...ladder,
			rungs: ladder.rungs.map(({ input, output }) => ({ input, output: (output * by[0]) / by[1] })),
		}));
	assets.set(zeroAddress, {
		feed: { ...ether.feed, usdE18: (ether.feed.usdE18 * 104n) / 100n },
		buy: dearer(ether.buy, [100n, 104n]),
		sell: dearer(ether.sell, [104n, 100n]),
	});
	return { ...block, assets };
}

function refusal(asked: QuoteRequest): SwapError<"NO_ROUTE">["details"] {
	try {
		deskWith().quote(asked);
	} catch (error) {
		if (error instanceof SwapError) return (error as SwapError<"NO_ROUTE">).details;
		throw error;
	}
	throw new Error("was not refused");
}
