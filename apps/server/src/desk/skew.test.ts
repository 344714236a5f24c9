import { startTestChains, type TestChains } from "@geoswap/devnet";
import type { QuoteRequest } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, parseUnits } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache, withInventoryOf } from "../../test/desk/test-prices.ts";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import type { InventoryNeed } from "../swap/facts/free-inventory.ts";
import { createDesk } from "./create-desk.ts";
import type { Desk } from "./desk.ts";
import { swapSkewCentibps, tokenSkewCentibps } from "./skew.ts";

const readingOf = (free: bigint, need?: InventoryNeed) => ({
	balance: 10n * free,
	reserved: 0n,
	free,
	beingSold: 0n,
	...(need && { need }),
});

describe("the skew of a token", () => {
	const skew = (virtual: bigint, { needed = 1_000n, moveCostBps = 8, maxBps = 15 } = {}) =>
		tokenSkewCentibps({ needed, virtual, moveCostBps }, { maxBps });

	test("is the cost of a move if nothing is left, nothing at the need, and a discount beyond it", () => {
		expect([0n, 500n, 1_000n, 1_500n, 2_000n, 9_000n].map((virtual) => skew(virtual))).toEqual([
			800, 400, 0, -400, -800, -800,
		]);
	});

	test("is at most the configured bound, and zero if that is zero or nothing is needed", () => {
		expect(skew(0n, { moveCostBps: 40 })).toBe(1_500);
		expect(skew(9_000n, { moveCostBps: 40 })).toBe(-1_500);
		expect(skew(0n, { maxBps: 0 })).toBe(0);
		expect(skew(5n, { needed: 0n })).toBe(0);
	});

	test("is rounded up", () => {
		expect(skew(999n)).toBe(1);
		expect(skew(1_001n)).toBe(0);
	});

	test("never rises with what is free, and stays within its bounds", () => {
		const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
		const terms = fc.record({
			needed: amount,
			moveCostBps: fc.integer({ min: 0, max: 500 }),
			maxBps: fc.integer({ min: 0, max: 100 }),
		});
		fc.assert(
			fc.property(terms, amount, amount, (given, virtual, more) => {
				const now = skew(virtual, given);
				expect(skew(virtual + more, given)).toBeLessThanOrEqual(now);
				expect(Math.abs(now)).toBeLessThanOrEqual(100 * Math.min(given.moveCostBps, given.maxBps));
			}),
		);
	});
});

test("a swap pays for the token that it takes, less what the token that it brings saves", () => {
	const terms = { feeMillibps: 12_500, maxBps: 15 };
	const short = readingOf(0n, { needed: 100n, arriving: 0n, moveCostBps: 8 });
	const helped = readingOf(0n, { needed: 100n, arriving: 50n, moveCostBps: 8 });
	expect(swapSkewCentibps({ taken: short, brought: undefined }, terms)).toBe(800);
	expect(swapSkewCentibps({ taken: helped, brought: undefined }, terms)).toBe(400);
	expect(swapSkewCentibps({ taken: readingOf(5n), brought: short }, terms)).toBe(-800);
	expect(swapSkewCentibps({ taken: short, brought: helped }, terms)).toBe(400);
});

describe("quotes", () => {
	const [one, two] = [31337, 31338];
	const needs = new Map<string, { free: bigint; need: InventoryNeed }>();
	let chains: TestChains;
	let prices: BlockPrices[];
	let isCurrent = true;
	beforeAll(async () => {
		chains = await startTestChains();
		prices = await Promise.all([readTestPrices(chains.origin), readTestPrices(chains.destination)]);
	});
	afterAll(() => chains.stop());

	function desk(feeBps = 12.5): Desk {
		const config = withInventoryOf("ETH", testConfig(chains));
		const nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250;
		const { limits, price } = config;
		return createDesk({
			config: {
				...config,
				price: { ...price, feeBps },
				limits: { ...limits, maxHoldingUsd: { perAsset: 1e40, bySymbol: {} } },
			},
			priceCache: testPriceCache(config, prices, { nowMs }),
			inventory: {
				of: ({ chainId, token }) => {
					const planned = needs.get(`${chainId}:${token}`);
					return readingOf(planned?.free ?? 10n ** 30n, planned?.need);
				},
				isCurrent: () => isCurrent,
			},
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size).fill(7),
		});
	}

	function tokenOf(chainId: number, symbol: string): Hex {
		const { assets } = (chainId === one ? chains.origin : chains.destination).deployment;
		const asset = assets.find((candidate) => candidate.symbol === symbol);
		if (!asset) throw new Error(`no ${symbol}`);
		return asset.address;
	}

	function request(from: [number, string], to: [number, string], amount: bigint): QuoteRequest {
		return {
			originChain: from[0],
			destinationChain: to[0],
			inputToken: tokenOf(...from),
			outputToken: tokenOf(...to),
			amount,
			walletAddress: "0x1111111111111111111111111111111111111111",
			recipient: undefined,
			slippageBps: undefined,
		};
	}

	const thousand = () => request([one, "USDC"], [two, "USDC"], 1_000_000_000n);
	const short = { free: 0n, need: { needed: 10n ** 30n, arriving: 0n, moveCostBps: 10 } };
	const scarce = { free: 10n ** 12n, need: { needed: 10n ** 30n, arriving: 0n, moveCostBps: 10 } };

	test("a token that the destination lacks costs more, one that the origin lacks costs less, and submits keep that price", () => {
		needs.clear();
		const plain = desk().quote(thousand());
		expect(plain.skewCentibps).toBe(0);
		needs.set(`${two}:${tokenOf(two, "USDC")}`, scarce);
		const dear = desk().quote(thousand());
		expect(dear.skewCentibps).toBe(1_000);
		expect(plain.output - dear.output).toBe(1_000_000n);
		needs.clear();
		needs.set(`${one}:${tokenOf(one, "USDC")}`, short);
		const cheap = desk().quote(thousand());
		expect(cheap.skewCentibps).toBe(-1_000);
		expect(cheap.output - plain.output).toBe(1_000_000n);
		needs.clear();
		for (const quote of [plain, dear, cheap]) {
			expect(desk().reprice(quote, { sell: 0n, buy: 0n })?.output).toBe(quote.output);
			expect(desk().deliveryNow(quote)).toEqual(quote.delivery);
		}
	});

	test("a discount is at most the fee, and an old reading changes no price", () => {
		needs.clear();
		needs.set(`${one}:${tokenOf(one, "USDC")}`, short);
		expect(desk(4).quote(thousand()).skewCentibps).toBe(-400);
		expect(desk(0).quote(thousand()).skewCentibps).toBe(0);
		isCurrent = false;
		expect(desk().quote(thousand()).skewCentibps).toBe(0);
		isCurrent = true;
	});

	test("no cycle of swaps through any inventories yields more than was put in", () => {
		const stop = fc.constantFrom<[number, string]>(
			[one, "USDC"],
			[two, "USDC"],
			[one, "USDT"],
			[two, "USDT"],
			[one, "ETH"],
			[two, "ETH"],
		);
		/** What each vault has and needs of a token, in its units: as much as a millionth or a million times. */
		const planned = fc.record({
			needed: fc.bigInt({ min: 1n, max: 10n ** 36n }),
			arriving: fc.bigInt({ min: 0n, max: 10n ** 36n }),
			moveCostBps: fc.integer({ min: 0, max: 100 }),
		});
		const hop = fc.record({ to: stop, needs: fc.array(fc.tuple(stop, planned), { maxLength: 6 }) });
		const unique = fc.integer({ min: 1_000, max: 50_000 });
		const feeBps = fc.constantFrom(0, 3, 12.5, 40);
		fc.assert(
			fc.property(
				stop,
				fc.array(hop, { minLength: 1, maxLength: 5 }),
				unique,
				feeBps,
				(from, hops, usd, fee) => {
					const start = from[1] === "ETH" ? parseUnits(String(usd), 18) / 3_000n : parseUnits(String(usd), 6);
					let at = from;
					let held = start;
					for (const { to, needs: given } of [...hops, { to: from, needs: hops[0]?.needs ?? [] }]) {
						if (to[0] === at[0] && to[1] === at[1]) continue;
						needs.clear();
						for (const [[chainId, symbol], need] of given) {
							needs.set(`${chainId}:${tokenOf(chainId, symbol)}`, { free: 10n ** 30n, need });
						}
						held = desk(fee).quote(request(at, to, held)).output;
						at = to;
					}
					expect(held).toBeLessThanOrEqual(start);
				},
			),
			{ numRuns: 150 },
		);
	});
});
