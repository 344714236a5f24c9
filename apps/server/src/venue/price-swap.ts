import { mulDivDown, mulDivUp, rescaleDown, tokenAccountRentLamports } from "@geoswap/protocol";
import type { Hex } from "viem";
import { greater, lesser } from "../price/lesser.ts";
import type { PriceBook } from "../price/price-book.ts";
import { convertDown, convertUp } from "../price/usd-value.ts";
import type { Delivery } from "../store/swap-record.ts";
import { isLamports, isSettlement, type Side } from "./desk-chain.ts";
import { networkCost } from "./network-cost.ts";

/** A hundredth of a basis point is a millionth. */
const centibpsOfAll = 1_000_000n;

/** No account on Solana holds more of anything. */
const mostOnSolana = 2n ** 64n - 1n;

export type SwapPrice =
	| { delivery: Delivery; output: bigint }
	/** It does not pay for its own costs. */
	| "too-small"
	/** It is beyond a ladder, or what an account can hold. */
	| "too-large";

/**
 * Input → origin's settlement token → destination's → less fee, option and network cost → output. Every step rounds
 * against the caller, by less than a unit.
 */
export function priceSwap(
	book: PriceBook,
	{
		origin,
		destination,
		amount,
		feeCentibps,
		optionCentibps,
		inFlight = { sell: 0n, buy: 0n },
	}: {
		origin: Side;
		destination: Side;
		amount: bigint;
		feeCentibps: number;
		optionCentibps: number;
		/** Volume of others that these ladders already sold. */
		inFlight?: { sell: bigint; buy: bigint };
	},
): SwapPrice {
	if (origin.chain.kind === "solana" && amount > mostOnSolana) return "too-large";
	const sold = book.sell({ ...assetId(origin), amount, inFlight: inFlight.sell });
	if (sold === undefined) return "too-large";
	const value = acrossSettlement(book, { sold, origin, destination });
	// Each is rounded up by itself: together they may only ever be more.
	const fee = mulDivUp(value, BigInt(feeCentibps), centibpsOfAll);
	const option = mulDivUp(value, BigInt(optionCentibps), centibpsOfAll);
	const budget = value - fee - option - networkCost(book, { origin, destination });
	return priceDelivery(book, { destination, budget, inFlight: inFlight.buy });
}

/** What the recipient gets for a budget of the destination's settlement token, and how. */
export function priceDelivery(
	book: PriceBook,
	{ destination, budget, inFlight }: { destination: Side; budget: bigint; inFlight: bigint },
): SwapPrice {
	if (budget <= 0n) return "too-small";
	if (destination.chain.kind === "solana") return pricePayout(book, { destination, budget });
	if (isSettlement(destination)) return { delivery: { kind: "stock", amount: budget }, output: budget };
	const bought = book.buy({ ...assetId(destination), budget, inFlight });
	if (!bought) return "too-large";
	if (bought.output === 0n) return "too-small";
	return { delivery: { kind: "router", budget, fees: bought.fees }, output: bought.output };
}

/**
 * From stock, less the rent of an account for the recipient, which is the recipient's once we made it: whoever closes it
 * has paid for what comes out. What is returned where it is not needed is less than what was charged by at most a unit.
 */
function pricePayout(
	book: PriceBook,
	{ destination, budget }: { destination: Side; budget: bigint },
): SwapPrice {
	const { chain } = destination;
	const bought = isSettlement(destination)
		? budget
		: (book.buy({ ...assetId(destination), budget })?.output ?? 0n);
	const rent = isLamports(destination) ? 0n : tokenAccountRentLamports;
	const [native, own] = [
		book.reference({ chainId: chain.chainId, asset: chain.native.address }),
		book.reference(assetId(destination)),
	];
	const amount = bought - convertUp(rent, native, own);
	const unusedRent = convertDown(rent, native, own);
	if (amount <= 0n) return "too-small";
	if (amount + unusedRent > mostOnSolana) return "too-large";
	return { delivery: { kind: "payout", amount, unusedRent }, output: amount };
}

/** The lesser of a delivery as it was quoted and as it is priced now, and what it takes of which token. */
export function lesserDelivery(
	book: PriceBook,
	{
		destination,
		quoted,
		now,
		inFlight,
	}: { destination: Side; quoted: Delivery; now: Delivery; inFlight: bigint },
): { delivery: Delivery; output: bigint; token: Hex; amount: bigint } | undefined {
	const { chain, asset } = destination;
	if (quoted.kind === "payout" || now.kind === "payout") {
		if (quoted.kind !== "payout" || now.kind !== "payout") return undefined;
		// Each by itself: with the account or without, neither more than was quoted nor more than it is worth now.
		const amount = lesser(quoted.amount, now.amount);
		const unusedRent = lesser(quoted.unusedRent, now.unusedRent);
		return {
			delivery: { kind: "payout", amount, unusedRent },
			output: amount,
			token: asset.address,
			amount: amount + unusedRent,
		};
	}
	const budget = lesser(budgetOf(quoted), budgetOf(now));
	const priced = priceDelivery(book, { destination, budget, inFlight });
	return typeof priced === "string" ? undefined : { ...priced, token: chain.settlementToken, amount: budget };
}

/** What a delivery takes of the destination's settlement token. */
function budgetOf(delivery: Exclude<Delivery, { kind: "payout" }>): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

export function assetId({ chain, asset }: Side): { chainId: number; asset: Hex } {
	return { chainId: chain.chainId, asset: asset.address };
}

/** One stable for the other: at par or by the feeds, whichever is less. */
function acrossSettlement(
	book: PriceBook,
	{ sold, origin, destination }: { sold: bigint; origin: Side; destination: Side },
): bigint {
	const [from, to] = [origin, destination].map(({ chain }) =>
		book.reference({ chainId: chain.chainId, asset: chain.settlementToken }),
	);
	if (!from || !to) throw new RangeError("a swap has two sides");
	const atPar = rescaleDown(sold, from.decimals, to.decimals);
	const byFeeds = convertDown(sold, from, to);
	return lesser(atPar, byFeeds);
}

/** The least that the caller's slippage allows, and never nothing. */
export function leastOutput(output: bigint, slippageBps: number): bigint {
	const least = mulDivDown(output, BigInt(10_000 - slippageBps), 10_000n);
	return greater(least, 1n);
}
