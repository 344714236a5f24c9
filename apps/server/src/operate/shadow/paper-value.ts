import type { Amount } from "@geoswap/protocol";
import { type DeskChain, isSettlement, type Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { usdValueDown, usdValueUp } from "../../desk/price/usd-value.ts";
import { assetId } from "../../desk/price-swap.ts";

/**
 * Returns the value of a received amount, which is what the pools pay for it in the settlement token, at that token's
 * feed, rounded down at each step. An amount beyond the ladder has the value of its feed.
 */
export function valueReceivedE18(priceCache: PriceCache, side: Side, amount: Amount): bigint {
	const { chain } = side;
	const sold = isSettlement(side) ? amount : priceCache.sell({ ...assetId(side), amount });
	if (sold === undefined) return usdValueDown(amount, priceCache.reference(assetId(side)));
	return usdValueDown(sold, priceCache.reference({ chainId: chain.chainId, asset: chain.settlementToken }));
}

/** Returns the value of a given amount, at its feed, rounded up. */
export function valueGivenE18(priceCache: PriceCache, side: Side, amount: Amount): bigint {
	return usdValueUp(amount, priceCache.reference(assetId(side)));
}

/** Returns the value of a fee in the chain's own unit, rounded up. */
export function feeValueE18(
	priceCache: PriceCache,
	{ chainId, native, nativeDecimals }: DeskChain,
	fee: bigint,
): bigint {
	const { usdE18 } = priceCache.reference({ chainId, asset: native.address });
	return usdValueUp(fee, { decimals: nativeDecimals, usdE18 });
}
