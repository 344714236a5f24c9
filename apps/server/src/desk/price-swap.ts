import {
	type Amount,
	greater,
	lesser,
	mulDivDown,
	mulDivUp,
	rescaleDown,
	tokenAccountRentLamports,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Delivery } from "../swap/facts/swap-record.ts";
import { isLamports, isSameAsset, isSettlement, type Side, settlementSymbol } from "./desk-chain.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { convertDown, convertUp, type PricedToken } from "./price/usd-value.ts";

/** Thousandths of a basis point in 100 %. */
const millibpsOfAll = 10_000_000n;

/** The maximum amount of any token in one Solana account. */
const maxOnSolana = 2n ** 64n - 1n;

/**
 * How a swap gets its output. `router`: bought in pools with the settlement token. `inventory`: from the vault, at the
 * price of the ladders, as every output on Solana and every settlement token. `same-asset`: from the vault, at par with
 * the input, without a ladder.
 */
export type Supply = "router" | "inventory" | "same-asset";

export type SwapPrice =
	| {
			delivery: Delivery;
			output: Amount;
			/** The part of the output that pays for the recipient's token account. */
			accountCost: bigint;
	  }
	/** The amount does not cover its own costs. */
	| "too-small"
	/** The amount is beyond a ladder, or more than an account can hold. */
	| "too-large";

/** Returns how a swap that was quoted with this delivery gets its output. */
export function supplyOf(sides: { origin: Side; destination: Side }, delivery: Delivery): Supply {
	if (delivery.kind === "router") return "router";
	return isSameAsset(sides) ? "same-asset" : "inventory";
}

/**
 * Prices a swap: input → origin's settlement token → destination's → less fee, option, skew and network cost → output. Every
 * step rounds against the caller, by less than a unit. The same asset on both sides needs no settlement token.
 */
export function priceSwap(
	priceCache: PriceCache,
	{
		origin,
		destination,
		amount,
		feeMillibps,
		skewCentibps,
		optionMillibps,
		settlementSpreadBps,
		networkCost,
		hasAccount,
		supply,
		inFlight = { sell: 0n, buy: 0n },
	}: {
		origin: Side;
		destination: Side;
		amount: Amount;
		feeMillibps: number;
		/** What inventory adds to the price. Negative if it is a discount, which must be at most the fee. */
		skewCentibps: number;
		optionMillibps: number;
		settlementSpreadBps: number;
		/** The charge for the transactions, in the destination's settlement token. */
		networkCost: Amount;
		/** True if the recipient has its token account on Solana. */
		hasAccount: boolean;
		supply: Supply;
		/** Volume of other swaps in flight on these ladders. */
		inFlight?: { sell: bigint; buy: bigint };
	},
): SwapPrice {
	if (origin.chain.kind === "solana" && amount > maxOnSolana) return "too-large";
	if (supply === "same-asset") {
		const value = atPar(priceCache, { amount, origin, destination });
		const cost = convertUp(networkCost, ...fromSettlement(priceCache, destination));
		return priceInventory(priceCache, { destination, amount: afterCharges(value) - cost, hasAccount });
	}
	const sold = priceCache.sell({ ...assetId(origin), amount, inFlight: inFlight.sell });
	if (sold === undefined) return "too-large";
	const value = acrossSettlement(priceCache, { sold, origin, destination, settlementSpreadBps });
	const budget = afterCharges(value) - networkCost;
	return priceDelivery(priceCache, { destination, budget, hasAccount, supply, inFlight: inFlight.buy });

	/** Deducts fee, option and skew. They are rounded up separately, so their sum is never too low. */
	function afterCharges(value: Amount): bigint {
		const fee = mulDivUp(value, BigInt(feeMillibps), millibpsOfAll);
		const option = mulDivUp(value, BigInt(optionMillibps), millibpsOfAll);
		const skew = BigInt(10 * skewCentibps);
		const skewed =
			skew > 0n ? mulDivUp(value, skew, millibpsOfAll) : -mulDivDown(value, -skew, millibpsOfAll);
		return value - fee - option - skewed;
	}
}

/** Returns what the recipient gets for a budget of the destination's settlement token, and the kind of delivery. */
export function priceDelivery(
	priceCache: PriceCache,
	{
		destination,
		budget,
		hasAccount,
		supply,
		inFlight,
	}: {
		destination: Side;
		budget: Amount;
		hasAccount: boolean;
		supply: Exclude<Supply, "same-asset">;
		inFlight: Amount;
	},
): SwapPrice {
	if (budget <= 0n) return "too-small";
	if (isSettlement(destination)) {
		return priceInventory(priceCache, { destination, amount: budget, hasAccount });
	}
	if (destination.chain.kind === "solana" || supply === "inventory") {
		const bought = priceCache.buy({ ...assetId(destination), budget, inFlight });
		if (!bought && destination.chain.kind === "evm") return "too-large";
		return priceInventory(priceCache, { destination, amount: bought?.output ?? 0n, hasAccount });
	}
	const bought = priceCache.buy({ ...assetId(destination), budget, inFlight });
	if (!bought) return "too-large";
	if (bought.output === 0n) return "too-small";
	const { output, fees } = bought;
	return { delivery: { kind: "router", budget, fees }, output, accountCost: 0n };
}

/** Returns the delivery of an amount of the output token from inventory. */
function priceInventory(
	priceCache: PriceCache,
	{ destination, amount, hasAccount }: { destination: Side; amount: bigint; hasAccount: boolean },
): SwapPrice {
	if (destination.chain.kind === "solana") {
		return pricePayout(priceCache, { destination, bought: greater(amount, 0n), hasAccount });
	}
	if (amount <= 0n) return "too-small";
	return { delivery: { kind: "inventory", amount }, output: amount, accountCost: 0n };
}

/**
 * Prices a payout from inventory, less the rent of an account for the recipient. The recipient owns the account that
 * the service creates, so anyone who closes it has paid the rent that comes back. `unusedRent` is at most a unit less
 * than the account cost.
 */
function pricePayout(
	priceCache: PriceCache,
	{ destination, bought, hasAccount }: { destination: Side; bought: Amount; hasAccount: boolean },
): SwapPrice {
	const { chain } = destination;
	const rent = isLamports(destination) ? 0n : tokenAccountRentLamports;
	const [native, own] = [
		priceCache.reference({ chainId: chain.chainId, asset: chain.native.address }),
		priceCache.reference(assetId(destination)),
	];
	const accountCost = convertUp(rent, native, own);
	// If the output is worth less than an account, nothing remains if an account is needed after all.
	const amount = greater(bought - accountCost, 0n);
	const unusedRent = lesser(convertDown(rent, native, own), bought - amount);
	const output = hasAccount ? amount + unusedRent : amount;
	if (output <= 0n) return "too-small";
	if (amount + unusedRent > maxOnSolana) return "too-large";
	return {
		delivery: { kind: "payout", amount, unusedRent },
		output,
		accountCost: hasAccount ? 0n : accountCost,
	};
}

/** Returns the lesser of the quoted delivery and the one priced now, with the token and amount it takes. */
export function lesserDelivery(
	priceCache: PriceCache,
	{
		destination,
		quoted,
		now,
		hasAccount,
		inFlight,
	}: { destination: Side; quoted: Delivery; now: Delivery; hasAccount: boolean; inFlight: Amount },
): { delivery: Delivery; output: Amount; token: Hex; amount: Amount } | undefined {
	const { chain, asset } = destination;
	if (quoted.kind === "payout" || now.kind === "payout") {
		if (quoted.kind !== "payout" || now.kind !== "payout") return undefined;
		// Each is capped separately. With or without the account, the service pays at most what was quoted and what it is
		// worth now.
		const amount = lesser(quoted.amount, now.amount);
		const unusedRent = lesser(quoted.unusedRent, now.unusedRent);
		return {
			delivery: { kind: "payout", amount, unusedRent },
			output: hasAccount ? amount + unusedRent : amount,
			token: asset.address,
			amount: amount + unusedRent,
		};
	}
	if (quoted.kind === "inventory" || now.kind === "inventory") {
		if (quoted.kind !== "inventory" || now.kind !== "inventory") return undefined;
		const amount = lesser(quoted.amount, now.amount);
		return { delivery: { kind: "inventory", amount }, output: amount, token: asset.address, amount };
	}
	const budget = lesser(quoted.budget, now.budget);
	const priced = priceDelivery(priceCache, { destination, budget, hasAccount, supply: "router", inFlight });
	if (typeof priced === "string") return undefined;
	const { delivery, output } = priced;
	return { delivery, output, token: chain.settlementToken, amount: budget };
}

/**
 * Returns the delivery, capped at the input's current value less the option and the top-up, or undefined if the input
 * is beyond a ladder. Fee and network cost are not deducted again, because the quote already deducted them. So a
 * small price move changes nothing for the caller.
 */
export function capDelivery(
	priceCache: PriceCache,
	{
		origin,
		destination,
		amount,
		delivery,
		topUp,
		supply,
		optionMillibps,
		settlementSpreadBps,
	}: {
		origin: Side;
		destination: Side;
		amount: Amount;
		delivery: Delivery;
		/** The native token that the recipient gets in addition to the delivery. */
		topUp: Amount;
		supply: Supply;
		optionMillibps: number;
		settlementSpreadBps: number;
	},
): Delivery | undefined {
	if (supply === "same-asset") {
		const value = atPar(priceCache, { amount, origin, destination });
		return capped(afterOption(value, priceCache.reference(assetId(destination))));
	}
	const sold = priceCache.sell({ ...assetId(origin), amount });
	if (sold === undefined) return undefined;
	const value = acrossSettlement(priceCache, { sold, origin, destination, settlementSpreadBps });
	const [settlement] = fromSettlement(priceCache, destination);
	const budget = afterOption(value, settlement);
	if (delivery.kind === "router") return { ...delivery, budget: lesser(delivery.budget, budget) };
	return capped(
		isSettlement(destination) ? budget : (priceCache.buy({ ...assetId(destination), budget })?.output ?? 0n),
	);

	/** Deducts the option and the top-up from a value in the given token. */
	function afterOption(value: Amount, token: PricedToken): Amount {
		const { chainId, native, nativeDecimals } = destination.chain;
		const nativePrice = priceCache.reference({ chainId, asset: native.address });
		const toppedUp = convertUp(topUp, { ...nativePrice, decimals: nativeDecimals }, token);
		return greater(value - mulDivUp(value, BigInt(optionMillibps), millibpsOfAll) - toppedUp, 0n);
	}

	/** Returns the delivery from inventory of at most this much of the output token. */
	function capped(most: Amount): Delivery | undefined {
		if (delivery.kind === "router") return undefined;
		if (delivery.kind === "inventory") return { ...delivery, amount: lesser(delivery.amount, most) };
		const surplus = greater(delivery.amount + delivery.unusedRent - most, 0n);
		return { ...delivery, amount: delivery.amount - surplus };
	}
}

/** Returns the maximum that a delivery takes from the vault, in the token in which it is paid. */
export function maxPaid(delivery: Delivery): bigint {
	switch (delivery.kind) {
		case "inventory":
			return delivery.amount;
		case "router":
			return delivery.budget;
		case "payout":
			return delivery.amount + delivery.unusedRent;
	}
}

export function assetId({ chain, asset }: Side): { chainId: number; asset: Hex } {
	return { chainId: chain.chainId, asset: asset.address };
}

/**
 * Converts one settlement token into the other, at par or by the feeds, whichever is less. If the tokens differ, a
 * spread is deducted, since each feed may lag the market. With the same token the feed's error cancels out.
 */
function acrossSettlement(
	priceCache: PriceCache,
	{
		sold,
		origin,
		destination,
		settlementSpreadBps,
	}: { sold: bigint; origin: Side; destination: Side; settlementSpreadBps: number },
): bigint {
	const [from, to] = [origin, destination].map(({ chain }) =>
		priceCache.reference({ chainId: chain.chainId, asset: chain.settlementToken }),
	);
	if (!from || !to) throw new RangeError("a swap has two sides");
	const atPar = rescaleDown(sold, from.decimals, to.decimals);
	const value = lesser(atPar, convertDown(sold, from, to));
	if (settlementSymbol(origin.chain) === settlementSymbol(destination.chain)) return value;
	return mulDivDown(value, BigInt(10_000 - settlementSpreadBps), 10_000n);
}

/** Converts an input into the same asset of the other side, at par or by the feeds, whichever is less. */
function atPar(
	priceCache: PriceCache,
	{ amount, origin, destination }: { amount: Amount; origin: Side; destination: Side },
): bigint {
	const [from, to] = [priceCache.reference(assetId(origin)), priceCache.reference(assetId(destination))];
	return lesser(rescaleDown(amount, from.decimals, to.decimals), convertDown(amount, from, to));
}

/** Returns the prices of a chain's settlement token and of the side's own token. */
function fromSettlement(
	priceCache: PriceCache,
	{ chain: { chainId, settlementToken }, asset }: Side,
): [settlement: PricedToken, own: PricedToken] {
	return [
		priceCache.reference({ chainId, asset: settlementToken }),
		priceCache.reference({ chainId, asset: asset.address }),
	];
}

/** Returns the minimum output that the caller's slippage allows, at least one unit. */
export function minOutputAfterSlippage(output: Amount, slippageBps: number): bigint {
	const least = mulDivDown(output, BigInt(10_000 - slippageBps), 10_000n);
	return greater(least, 1n);
}
