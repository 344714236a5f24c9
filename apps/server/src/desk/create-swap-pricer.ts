import { type Amount, addressOfWord, type Milliseconds, type Order, toChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Config } from "../config/config.ts";
import type { HoldingLimit } from "../swap/facts/reservation.ts";
import type { DeskChain, Side } from "./desk-chain.ts";
import { optionPrice } from "./option-price.ts";
import type { PriceCache } from "./price/price-cache.ts";
import type { PriceStop } from "./price/price-stop.ts";
import { amountWorthDown, toUsdE18, usdValueUp } from "./price/usd-value.ts";
import { assetId, priceSwap, type Supply, type SwapPrice } from "./price-swap.ts";
import type { ResolvedRequest } from "./resolve-request.ts";
import { usdCentsUp } from "./sealed-quote.ts";

type Sides = { origin: Side; destination: Side };

export type SwapPricer = {
	/** Returns a token of a chain, or undefined if it is not offered. */
	sideOf: (chainId: number, token: Hex) => Side | undefined;
	/** Returns both sides of an order, or undefined if one is no longer offered. */
	sidesOf: (order: Order) => Sides | undefined;
	/**
	 * Returns why the side cannot be priced, because of the asset or of the native token in which its chain's fees are
	 * paid.
	 */
	stopOf: (side: Side, nowMs: Milliseconds) => PriceStop | undefined;
	/** True if both sides can be priced. */
	isLive: (sides: Sides, nowMs: Milliseconds) => boolean;
	/** Returns the value of an input, rounded up. */
	inputUsdCents: (origin: Side, amount: Amount) => bigint;
	/** Returns how much of the origin's token its vault may hold, at the current price. */
	holdingLimitOf: (origin: Side) => HoldingLimit;
	/** Returns what the option costs that a quote gives its caller, in thousandths of a basis point. */
	optionOf: (sides: Sides, supply: Supply) => number;
	/** Prices a swap, with the spread and the option that apply now. */
	price: (
		swap: Pick<ResolvedRequest, "origin" | "destination" | "amount">,
		options: {
			feeMillibps: number;
			skewCentibps: number;
			hasAccount: boolean;
			networkCost: Amount;
			supply: Supply;
			inFlight?: { sell: bigint; buy: bigint };
		},
	) => SwapPrice;
};

/** Creates what quotes and later prices of the same orders have in common, so that both use the same rules. */
export function createSwapPricer({
	config,
	chains,
	priceCache,
}: {
	config: Pick<Config, "price" | "limits">;
	chains: ReadonlyMap<number, DeskChain>;
	priceCache: PriceCache;
}): SwapPricer {
	return { sideOf, sidesOf, stopOf, isLive, inputUsdCents, holdingLimitOf, optionOf, price };

	function sidesOf(order: Order): { origin: Side; destination: Side } | undefined {
		const { originChainId: from, destinationChainId: to } = order;
		const origin = sideOf(toChainId(from), addressOfWord(from, order.inputToken));
		const destination = sideOf(toChainId(to), addressOfWord(to, order.outputToken));
		return origin && destination && { origin, destination };
	}

	function sideOf(chainId: number, token: Hex): Side | undefined {
		const chain = chains.get(chainId);
		const asset = chain?.assets.find(({ address }) => address === token);
		return chain && asset && { chain, asset };
	}

	function isLive(
		{ origin, destination }: { origin: Side; destination: Side },
		nowMs: Milliseconds,
	): boolean {
		return [origin, destination].every((side) => stopOf(side, nowMs) === undefined);
	}

	function stopOf({ chain: { chainId, native }, asset }: Side, nowMs: Milliseconds): PriceStop | undefined {
		return (
			priceCache.stopOf({ chainId, asset: asset.address }, { nowMs }) ??
			priceCache.referenceStopOf({ chainId, asset: native.address }, { nowMs })
		);
	}

	function inputUsdCents(origin: Side, amount: Amount): bigint {
		return usdCentsUp(usdValueUp(amount, priceCache.reference(assetId(origin))));
	}

	function holdingLimitOf(origin: Side): HoldingLimit {
		const { perAsset, bySymbol } = config.limits.maxHoldingUsd;
		const usd = bySymbol[origin.asset.symbol] ?? perAsset;
		const { chainId, asset: token } = assetId(origin);
		const amount = amountWorthDown(toUsdE18(usd), priceCache.reference({ chainId, asset: token }));
		return { chainId, token, amount };
	}

	function optionOf({ origin, destination }: Sides, supply: Supply): number {
		const blockSeconds = priceCache.blockSeconds(destination.chain.chainId);
		return optionPrice({ origin, destination, supply, blockSeconds }, config.price);
	}

	function price(...[swap, options]: Parameters<SwapPricer["price"]>): SwapPrice {
		const { settlementSpreadBps } = config.price;
		return priceSwap(priceCache, {
			...swap,
			...options,
			optionMillibps: optionOf(swap, options.supply),
			settlementSpreadBps,
		});
	}
}
