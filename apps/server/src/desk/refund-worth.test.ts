import { type Order, tokenAccountRentLamports, toWord } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import {
	one,
	type SolanaDeskScene,
	solana,
	startSolanaDeskScene,
	two,
} from "../../test/desk/solana-desk-scene.ts";
import { deskChains } from "./desk-chain.ts";
import { lamportsOn, solanaTransactions } from "./network-cost.ts";
import { refundWorth } from "./refund-worth.ts";

let scene: SolanaDeskScene;
beforeAll(async () => {
	scene = await startSolanaDeskScene();
});
afterAll(() => scene.stop());

function orderTo(destination: number): Order {
	const { settlementToken } = scene.chains.origin.deployment;
	return {
		...anyOrder(),
		originChainId: BigInt(one),
		destinationChainId: BigInt(destination),
		inputToken: toWord(settlementToken),
	};
}

function worthOf(order: Order, nowMs = scene.nowMs) {
	return refundWorth(order, { chains: deskChains(scene.config), priceCache: scene.priceCache, nowMs });
}

/** Returns the smallest input, in units of the settlement token, that is worth refunding. */
function minInput(order: Order): bigint {
	let [less, enough] = [0n, 10n ** 12n];
	while (enough - less > 1n) {
		const inputAmount = (less + enough) / 2n;
		if (worthOf({ ...order, inputAmount })?.isWorth) enough = inputAmount;
		else less = inputAmount;
	}
	return enough;
}

/** Converts an amount of a chain's native token to units of USDC, at one dollar each. */
function inMicroDollars(chainId: number, fees: bigint): bigint {
	const chain = deskChains(scene.config).get(chainId);
	if (!chain) throw new Error("it is configured");
	const { usdE18 } = scene.priceCache.reference({ chainId, asset: chain.native.address });
	return (fees * usdE18) / 10n ** BigInt(chain.nativeDecimals) / 10n ** 12n;
}

test("an order is worth rebuilding above the cost of ten refunds, regardless of its destination chain", () => {
	const { priceCache } = scene;
	const gasPrice = priceCache.baseFee(one) + (priceCache.tip(one) ?? 0n);
	const tenRefunds = inMicroDollars(one, 10n * 67_708n * gasPrice);
	const least = minInput(orderTo(two));
	// The feed's price of the settlement token may be slightly above or below a dollar.
	expect(Number(least)).toBeGreaterThan(Number(tenRefunds) * 0.99);
	expect(Number(least)).toBeLessThan(Number(tenRefunds) * 1.01 + 2);
	expect(minInput(orderTo(solana))).toBe(least);
});

test("the refund of a native input is charged for a wallet that uses up all the gas it is given", () => {
	const order = orderTo(two);
	const gasPrice = scene.priceCache.baseFee(one) + (scene.priceCache.tip(one) ?? 0n);
	const costOf = (inputToken: Order["inputToken"]) => worthOf({ ...order, inputToken })?.costMicroUsd ?? 0n;
	const usual = costOf(order.inputToken);
	expect(usual).toBeGreaterThanOrEqual(inMicroDollars(one, 67_708n * gasPrice));
	expect(costOf(toWord(zeroAddress))).toBeGreaterThan(2n * usual);
});

test("an order from Solana is worth rebuilding above the cost of ten refunds, each with an account for a token", () => {
	const { priceCache, config, side } = scene;
	const chain = deskChains(config).get(solana);
	if (chain?.kind !== "solana") throw new Error("it is configured");
	const fee = lamportsOn(priceCache, chain)(solanaTransactions.refund);
	const from = (symbol: string): Order => ({
		...orderTo(two),
		originChainId: BigInt(solana),
		inputToken: side(solana, symbol).asset.address,
	});
	const tenRefunds = Number(inMicroDollars(solana, 10n * (fee + tokenAccountRentLamports)));
	const least = Number(minInput(from("USDC")));
	expect(least).toBeGreaterThan(tenRefunds * 0.99);
	expect(least).toBeLessThan(tenRefunds * 1.01 + 2);
	// Lamports need no account.
	expect(minInput(from("SOL"))).toBe(10n * fee + 1n);
});

test("an order without a price has no worth yet", () => {
	const order = orderTo(two);
	expect(worthOf(order)?.valueUsdCents).toBeGreaterThanOrEqual(0n);
	expect(worthOf(order, scene.nowMs + 86_400_000)).toBeUndefined();
	expect(worthOf({ ...order, originChainId: BigInt(solana) })).toBeUndefined();
});

test("an order needs no price of its destination's token", () => {
	const worthWithout = (chainId: number, order: Order) => {
		const isLive: typeof scene.priceCache.isReferenceLive = (asset, at) =>
			asset.chainId !== chainId && scene.priceCache.isReferenceLive(asset, at);
		const priceCache = { ...scene.priceCache, isReferenceLive: isLive };
		return refundWorth(order, { chains: deskChains(scene.config), priceCache, nowMs: scene.nowMs });
	};
	for (const destination of [two, solana]) {
		const order = orderTo(destination);
		expect(worthWithout(destination, order)).toEqual(worthOf(order));
	}
	expect(worthWithout(one, orderTo(two))).toBeUndefined();
});
