import { fromSolanaWord, type SolanaDeployment, solanaNativeToken, toSolanaWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, numberToHex, zeroHash } from "viem";
import { describe, expect, test } from "vitest";
import { testProgram } from "../../../test/order/test-program.ts";
import { noL1Rates } from "../../chain/evm/fee/fee-model.ts";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { createFeedPricing } from "./feed-pricing.ts";

const key = (n: number) => fromSolanaWord(numberToHex(n, { size: 32 }));
const feedOf = (n: number): Address => numberToHex(n, { size: 20 });
const [usdc, coin, sol] = [toSolanaWord(key(11)), toSolanaWord(key(12)), toSolanaWord(solanaNativeToken)];
const spreadBps = { stable: 5, volatile: 30 };
const now = 1_800_000_000;

function deploymentOf(): SolanaDeployment {
	return {
		chainId: 792703809,
		name: "Solana Test",
		genesisHash: key(1),
		feePayers: [key(2)],
		program: testProgram({ address: key(3), vault: key(4), operator: key(5) }),
		settlementToken: key(11),
		assets: [
			{ symbol: "USDC", address: key(11), decimals: 6, kind: "stable", feed: feed(1, 21, 86_400) },
			{ symbol: "COIN", address: key(12), decimals: 6, kind: "stable", feed: feed(1, 22, 86_400) },
			{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed: feed(2, 23, 3_600) },
		],
	};
}

function feed(chainId: number, n: number, heartbeatSeconds: number) {
	return { chainId, address: feedOf(n), heartbeatSeconds, deviationBps: 5 };
}

type Answers = { usdc?: Partial<FeedAnswer>; coin?: Partial<FeedAnswer>; sol?: Partial<FeedAnswer> };

/** Creates a pricing with feeds on two chains. The prices of chains in `stale` are no longer read. */
function pricing(answers: Answers = {}, { stale = [] as number[] } = {}) {
	const one = { updatedAtUnixSeconds: now - 60, usdE18: 10n ** 18n };
	const feeds = new Map<Address, FeedAnswer>([
		[feedOf(21), { ...one, ...answers.usdc }],
		[feedOf(22), { ...one, ...answers.coin }],
		[feedOf(23), { ...one, usdE18: 150n * 10n ** 18n, ...answers.sol }],
	]);
	const blockOf = (chainId: number): BlockPrices => ({
		chainId,
		blockHash: zeroHash,
		blockNumber: 1,
		timestampUnixSeconds: now,
		fees: { baseFee: 0n, tip: 0n, l1: noL1Rates },
		tipReadAtUnixSeconds: 0,
		assets: new Map(),
		feeds,
	});
	const source = (chainId: number) => ({
		newest: () => blockOf(chainId),
		isReady: () => !stale.includes(chainId),
		ageMs: () => 1_000 * chainId,
	});
	return createFeedPricing({
		deployment: deploymentOf(),
		spreadBps,
		references: { sequencerGraceSeconds: 3_600 },
		feedMarginBps: 10,
		feedChains: new Map([1, 2].map((chainId) => [chainId, source(chainId)])),
	});
}

const usdE18 = fc.bigInt(10n ** 10n, 10n ** 24n);
const amounts = fc.bigInt(0n, 10n ** 19n);

test("no price is better than the feeds less the spread, in both directions, at any price and size", () => {
	fc.assert(
		fc.property(usdE18, usdE18, amounts, fc.constantFrom(sol, coin), (settlement, own, amount, asset) => {
			const answers = { usdc: { usdE18: settlement }, coin: { usdE18: own }, sol: { usdE18: own } };
			const { sell, buy } = pricing(answers);
			const decimals = asset === sol ? 9n : 6n;
			const kept = 10_000n - (asset === sol ? 30n : 5n);
			const sold = sell({ asset, amount, inFlight: 0n }) ?? 0n;
			expect(sold * settlement * 10n ** decimals * 10_000n).toBeLessThanOrEqual(
				amount * own * 10n ** 6n * kept,
			);
			const bought = buy({ asset, budget: amount, inFlight: 0n })?.output ?? 0n;
			expect(bought * own * 10n ** 6n * 10_000n).toBeLessThanOrEqual(
				amount * settlement * 10n ** decimals * kept,
			);
			// The price is not worse by more than the two roundings.
			expect((bought + 2n) * own * 10n ** 6n * 10_000n).toBeGreaterThan(
				amount * settlement * 10n ** decimals * kept,
			);
		}),
	);
});

test("a trade there and back loses at least both spreads", () => {
	fc.assert(
		fc.property(usdE18, usdE18, amounts, (settlement, own, amount) => {
			const { sell, buy } = pricing({ usdc: { usdE18: settlement }, sol: { usdE18: own } });
			const kept = 10_000n - 30n;
			const budget = sell({ asset: sol, amount, inFlight: 0n }) ?? 0n;
			const back = buy({ asset: sol, budget, inFlight: 0n })?.output ?? 0n;
			expect(back * 10_000n ** 2n).toBeLessThanOrEqual(amount * kept ** 2n);
			const there = buy({ asset: sol, budget: amount, inFlight: 0n })?.output ?? 0n;
			const home = sell({ asset: sol, amount: there, inFlight: 0n }) ?? 0n;
			expect(home * 10_000n ** 2n).toBeLessThanOrEqual(amount * kept ** 2n);
		}),
	);
});

test("the settlement token is priced one to one, and volume in flight moves no price", () => {
	const { sell, buy } = pricing();
	expect(sell({ asset: usdc, amount: 123n, inFlight: 0n })).toBe(123n);
	const budget = 150_000_000n;
	expect(buy({ asset: sol, budget, inFlight: 0n })).toEqual({ output: 997_000_000n, fees: [] });
	expect(buy({ asset: sol, budget, inFlight: 10n ** 15n })?.output).toBe(997_000_000n);
});

describe("an asset is stopped", () => {
	const live = (asset: Address, ...of: Parameters<typeof pricing>) =>
		pricing(...of).stopOf(asset, { nowMs: now * 1_000 }) === undefined;

	test("not while its feed and the settlement token's are fresh", () => {
		for (const asset of [usdc, coin, sol]) expect(live(asset)).toBe(true);
		expect(live(toSolanaWord(key(99)))).toBe(false);
	});

	test("once its feed is older than its heartbeat, or gives no price", () => {
		const old = { updatedAtUnixSeconds: now - 3_600 - 121 };
		expect(live(sol, { sol: { updatedAtUnixSeconds: now - 3_600 - 119 } })).toBe(true);
		expect(live(sol, { sol: old })).toBe(false);
		expect(live(coin, { sol: old })).toBe(true);
		expect(live(sol, { sol: { usdE18: 0n } })).toBe(false);
	});

	test("once the settlement token's feed is too old, or gives no price", () => {
		for (const answer of [{ updatedAtUnixSeconds: now - 86_400 - 121 }, { usdE18: 0n }]) {
			for (const asset of [usdc, coin, sol]) expect(live(asset, { usdc: answer })).toBe(false);
		}
	});

	test("once the chain of its feed, or of the settlement token's feed, gives no new prices", () => {
		expect(live(sol, {}, { stale: [2] })).toBe(false);
		expect(live(coin, {}, { stale: [2] })).toBe(true);
		expect(live(sol, {}, { stale: [1] })).toBe(false);
		expect(pricing({}, { stale: [2] }).isReady({ nowMs: 0 })).toBe(false);
		expect(pricing().isReady({ nowMs: 0 })).toBe(true);
	});
});

test("the age of prices is the age on the oldest chain that they come from", () => {
	expect(pricing().ageMs({ nowMs: 0 })).toBe(2_000);
});

test("a feed on a chain without prices is refused at the start", () => {
	const references = { sequencerGraceSeconds: 3_600 };
	expect(() =>
		createFeedPricing({
			deployment: deploymentOf(),
			spreadBps,
			feedChains: new Map(),
			references,
			feedMarginBps: 10,
		}),
	).toThrow("the feed of USDC is on chain 1, which has no prices");
});

test("before the first block nothing has a price", () => {
	const source = { newest: () => undefined, isReady: () => false, ageMs: () => undefined };
	const before = createFeedPricing({
		deployment: deploymentOf(),
		spreadBps,
		references: { sequencerGraceSeconds: 3_600 },
		feedMarginBps: 10,
		feedChains: new Map([1, 2].map((chainId) => [chainId, source])),
	});
	expect(before.ageMs({ nowMs: 0 })).toBeUndefined();
	expect(before.stopOf(sol, { nowMs: 0 })).toEqual({ reason: "prices-old", symbol: "SOL" });
	expect(() => before.reference(sol)).toThrow("no price");
});
