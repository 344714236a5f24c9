import {
	type Amount,
	emptyAccountRentLamports,
	nativeTokenOf,
	SwapError,
	type UsdE18,
} from "@geoswap/protocol";
import { parseUnits } from "viem";
import type { DeskChain } from "./desk-chain.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { amountWorthDown, toUsdE18, usdValueDown } from "./price/usd-value.ts";
import { describeUnits, formatUsd } from "./sealed-quote.ts";

export type TopUp = {
	amount: Amount;
	/** Its value at the feed's price, rounded down. */
	valueE18: UsdE18;
};

/**
 * Returns the native token that a recipient gets in addition to the output, for its gas. It is zero if the request has
 * none. Throws if the request exceeds the operator's maximum, or if the recipient might not be able to hold so little.
 */
export function requestedTopUp(
	priceCache: Pick<PriceCache, "reference">,
	{ topUp, topUpUsd }: { topUp?: Amount | undefined; topUpUsd?: string | undefined },
	{ chain, maximumUsd }: { chain: DeskChain; maximumUsd: number },
): TopUp {
	if (topUp === undefined && topUpUsd === undefined) return { amount: 0n, valueE18: 0n };
	const { chainId, name, native: asset } = chain;
	// A chain that lists only the wrapped token has no inventory of the native one.
	if (asset.address !== nativeTokenOf(chainId) || maximumUsd === 0)
		throw refusal(`is not offered on ${name}; leave it out`);
	const side = { chain, asset };
	const price = { ...priceCache.reference({ chainId, asset: asset.address }), decimals: asset.decimals };
	const amount = topUp ?? amountWorthDown(parseUnits(topUpUsd ?? "0", 18), price);
	const maximumE18 = toUsdE18(maximumUsd);
	const most = amountWorthDown(maximumE18, price);
	if (amount > most) {
		throw refusal(`is at most ${describeUnits(side, most)}, or ${formatUsd(maximumE18)} USD, on ${name}`);
	}
	// An empty account on Solana cannot hold less, and the program would leave the top-up out.
	const least = chain.kind === "solana" ? emptyAccountRentLamports : 1n;
	if (amount < least) throw refusal(`is at least ${describeUnits(side, least)} on ${name}`);
	return { amount, valueE18: usdValueDown(amount, price) };

	function refusal(message: string): SwapError<"INVALID_REQUEST"> {
		const path = topUp === undefined ? "topUpUsd" : "topUp";
		return new SwapError("INVALID_REQUEST", { issues: [{ path, message }] });
	}
}
