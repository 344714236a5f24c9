import { type Amount, greater, type Milliseconds, mulDivDown, type Order, type Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Config } from "../config/config.ts";
import type { DemandLog } from "../swap/facts/demand-log.ts";
import type { FreeInventory } from "../swap/facts/free-inventory.ts";
import type { HoldingLimit } from "../swap/facts/reservation.ts";
import type { PauseList } from "../swap/pause/pause-list.ts";
import { createQuoter } from "./create-quoter.ts";
import { createSwapPricer } from "./create-swap-pricer.ts";
import type { Desk, PricedOrder, Repriced } from "./desk.ts";
import { deskChains, isSettlement, pairOf, type Side } from "./desk-chain.ts";
import { networkCost } from "./network-cost.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { usdValueUp } from "./price/usd-value.ts";
import { assetId, capDelivery, lesserDelivery, maxPaid, supplyOf } from "./price-swap.ts";
import { usdCentsUp } from "./sealed-quote.ts";

/** The tolerance of a fill through the router below the fresh price. */
const fillToleranceBps = 30n;
const bps = 10_000n;
/**
 * The minimum gas for each compressed byte of the service's transactions. It bounds their data where only their gas
 * is known.
 */
const gasPerByte = 50n;

export function createDesk({
	config,
	priceCache,
	pauses,
	inventory,
	demand,
	nowMs,
	random,
}: {
	config: Pick<Config, "chains" | "price" | "limits">;
	priceCache: PriceCache;
	/** Absent if the process quotes no new swaps. */
	pauses?: Pick<PauseList, "reasonOf">;
	/** Absent if quotes are not limited by what the vaults hold. */
	inventory?: FreeInventory;
	/** Receives what is quoted, and what is refused for lack of inventory. */
	demand?: Pick<DemandLog, "quoted" | "refused">;
	nowMs: () => Milliseconds;
	random: (size: number) => Uint8Array;
}): Desk {
	const chains = deskChains(config);
	const pricer = createSwapPricer({ config, chains, priceCache });
	const { sideOf, sidesOf, stopOf, isLive, inputUsdCents, holdingLimitOf, optionOf, price } = pricer;
	const { quote, baseFeeMillibps } = createQuoter({
		config,
		chains,
		priceCache,
		pricer,
		pauses,
		inventory,
		demand,
		nowMs,
		random,
	});

	return {
		baseFeeMillibps,
		isLive: (asset) => {
			const side = sideOf(asset.chainId, asset.token);
			return side !== undefined && stopOf(side, nowMs()) === undefined;
		},
		stopOf: ({ chainId, token }) => {
			const side = sideOf(chainId, token);
			return side && stopOf(side, nowMs());
		},
		quote,
		reprice,
		isPriceable,
		valueUsdCents: (order) => {
			const sides = sidesOf(order);
			return sides && isLive(sides, nowMs()) ? inputUsdCents(sides.origin, order.inputAmount) : undefined;
		},
		gasUsdCents,
		gasWei,
		tipNow: priceCache.tip,
		worthE18,
		holdingLimit,
		volumes,
		freshMinimum,
		deliveryNow,
	};

	function reprice(
		{ order, delivery, feeMillibps, ...known }: Parameters<Desk["reprice"]>[0],
		inFlight: { sell: bigint; buy: bigint },
	): Repriced | undefined {
		const sides = sidesOf(order);
		if (!sides || !isLive(sides, nowMs())) return undefined;
		// A quote that charged for an account has a minimum that the amount without the rent reaches.
		const isCountedOn = delivery.kind === "payout" && delivery.amount < order.minOutput;
		const hasAccount = known.hasAccount ?? isCountedOn;
		// Within its margin, the quote's charge covers higher fees. Beyond it the output falls, down to the order's minimum.
		const { isDelegated, mandate, nativeRecipient = "account" } = known;
		const { topUp } = order;
		const supply = supplyOf(sides, delivery);
		const isFromInventory = supply !== "router";
		const terms = { isDelegated, mandate, nativeRecipient, topUp, isFromInventory };
		const chargeNow = networkCost(priceCache, sides, terms);
		const charge = greater(known.networkCost ?? 0n, chargeNow);
		const { skewCentibps = 0 } = known;
		const options = { feeMillibps, skewCentibps, hasAccount, networkCost: charge, supply, inFlight };
		const now = price({ ...sides, amount: order.inputAmount }, options);
		if (typeof now === "string") return undefined;
		const { destination } = sides;
		const repriced = lesserDelivery(priceCache, {
			destination,
			quoted: delivery,
			now: now.delivery,
			hasAccount,
			inFlight: inFlight.buy,
		});
		if (!repriced || repriced.output < order.minOutput) return undefined;
		return {
			...repriced,
			chainId: destination.chain.chainId,
			volumes: volumes({ order, delivery: repriced.delivery }),
		};
	}

	function volumes({ order, delivery }: PricedOrder): Repriced["volumes"] {
		const sides = sidesOf(order);
		if (!sides) return [];
		const { origin, destination } = sides;
		// The same asset is kept, so that it can be delivered to others.
		const isSold = !isSettlement(origin) && supplyOf(sides, delivery) !== "same-asset";
		return [
			...(isSold ? [{ ...pairOf(origin), direction: "sell" as const, amount: order.inputAmount }] : []),
			...(delivery.kind === "router"
				? boughtOn(destination).map((pair) => ({
						...pair,
						direction: "buy" as const,
						amount: delivery.budget,
					}))
				: []),
		];
	}

	function isPriceable(order: Order): boolean {
		const sides = sidesOf(order);
		return sides !== undefined && isLive(sides, nowMs());
	}

	function gasUsdCents({ chainId, wei }: { chainId: number; wei: Wei }): bigint {
		const chain = chains.get(chainId);
		if (!chain || priceCache.ageMs(chainId, { nowMs: nowMs() }) === undefined) return 0n;
		const { usdE18 } = priceCache.reference({ chainId, asset: chain.native.address });
		return usdCentsUp(usdValueUp(wei, { decimals: chain.nativeDecimals, usdE18 }));
	}

	function gasWei({ chainId, gas }: { chainId: number; gas: bigint }): bigint {
		const chain = chains.get(chainId);
		if (chain?.kind !== "evm" || priceCache.ageMs(chainId, { nowMs: nowMs() }) === undefined) return 0n;
		const bytes = Number(gas / gasPerByte) + 1;
		return priceCache.transactionCost(chainId, { gas, fastLzBytes: bytes, brotliBytes: bytes });
	}

	function worthE18({
		chainId,
		token,
		amount,
	}: {
		chainId: bigint;
		token: Hex;
		amount: Amount;
	}): bigint | undefined {
		const side = chainId <= BigInt(Number.MAX_SAFE_INTEGER) ? sideOf(Number(chainId), token) : undefined;
		if (!side || priceCache.feedUpdatedAtUnixSeconds(assetId(side)) === undefined) return undefined;
		const reference = priceCache.reference(assetId(side));
		return reference.usdE18 > 0n ? usdValueUp(amount, reference) : undefined;
	}

	function holdingLimit(order: Order): HoldingLimit | undefined {
		const origin = sidesOf(order)?.origin;
		return origin && holdingLimitOf(origin);
	}

	function freshMinimum({ order, delivery, inFlight = 0n }: PricedOrder & { inFlight?: Amount }): bigint {
		const destination = sidesOf(order)?.destination;
		if (delivery.kind !== "router" || !destination) return order.minOutput;
		if (!priceCache.isLive(assetId(destination), { nowMs: nowMs() })) return order.minOutput;
		const bought = priceCache.buy({ ...assetId(destination), budget: delivery.budget, inFlight });
		const fresh = mulDivDown(bought?.output ?? 0n, bps - fillToleranceBps, bps);
		return greater(fresh, order.minOutput);
	}

	function deliveryNow({ order, delivery }: PricedOrder): ReturnType<Desk["deliveryNow"]> {
		const sides = sidesOf(order);
		if (!sides || !isLive(sides, nowMs())) return "no-price";
		const { inputAmount: amount, topUp } = order;
		const supply = supplyOf(sides, delivery);
		const { settlementSpreadBps } = config.price;
		const options = { supply, optionMillibps: optionOf(sides, supply), settlementSpreadBps };
		const capped = capDelivery(priceCache, { ...sides, amount, delivery, topUp, ...options });
		if (!capped) return "no-price";
		// The vault itself enforces the minimum when it buys through the router.
		const least = capped.kind === "router" ? 1n : order.minOutput;
		return maxPaid(capped) < least ? "below-minimum" : capped;
	}
}

/**
 * Returns the tokens that may be bought. A route of two pools buys the wrapped native token first, and the route may
 * still change before the fill.
 */
function boughtOn(side: Side): { chainId: number; token: Hex }[] {
	const { chain, asset } = side;
	const isByWayOfNative = chain.kind === "evm" && asset.paths.some((fees) => fees.length > 1);
	return isByWayOfNative
		? [pairOf(side), { chainId: chain.chainId, token: chain.wrappedNative }]
		: [pairOf(side)];
}
