import { mulDivDown, mulDivUp, rescaleDown } from "@geoswap/protocol";
import { greater, lesser } from "../price/lesser.ts";
import type { PriceBook } from "../price/price-book.ts";
import { convertDown } from "../price/usd-value.ts";
import type { Delivery } from "../store/swap-record.ts";
import { isSettlement, networkCost } from "./network-cost.ts";
import type { Side } from "./resolve-request.ts";

/** A hundredth of a basis point is a millionth. */
const centibpsOfAll = 1_000_000n;

export type SwapPrice =
	| { delivery: Delivery; output: bigint }
	/** It does not pay for its own costs. */
	| "too-small"
	/** It is beyond a ladder. */
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
	if (isSettlement(destination)) return { delivery: { kind: "stock", amount: budget }, output: budget };
	const bought = book.buy({ ...assetId(destination), budget, inFlight });
	if (!bought) return "too-large";
	if (bought.output === 0n) return "too-small";
	return { delivery: { kind: "router", budget, fees: bought.fees }, output: bought.output };
}

/** What a delivery takes of the destination's settlement token. */
export function budgetOf(delivery: Delivery): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

export function assetId({ chain, asset }: Side): { chainId: number; asset: Side["asset"]["address"] } {
	return { chainId: chain.chainId, asset: asset.address };
}

/** One stable for the other: at par or by the feeds, whichever is less. */
function acrossSettlement(
	book: PriceBook,
	{ sold, origin, destination }: { sold: bigint; origin: Side; destination: Side },
): bigint {
	const [from, to] = [origin, destination].map(({ chain }) =>
		book.reference({ chainId: chain.chainId, asset: chain.deployment.settlementToken }),
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
