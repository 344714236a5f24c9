import { type Amount, mulDivDown, mulDivUp, type UsdE18 } from "@geoswap/protocol";

/** A token at its feed's price, which is the value of a whole token in USD, with 18 decimals. */
export type PricedToken = { decimals: number; usdE18: UsdE18 };

/** Returns the value of the amount in USD, with 18 decimals. */
export function usdValueDown(amount: Amount, { decimals, usdE18 }: PricedToken): bigint {
	return mulDivDown(amount, usdE18, 10n ** BigInt(decimals));
}

export function usdValueUp(amount: Amount, { decimals, usdE18 }: PricedToken): bigint {
	return mulDivUp(amount, usdE18, 10n ** BigInt(decimals));
}

/** Returns the amount of the token that this value buys at the feed's price. */
export function amountWorthDown(valueE18: UsdE18, { decimals, usdE18 }: PricedToken): bigint {
	return mulDivDown(valueE18, 10n ** BigInt(decimals), usdE18);
}

export function amountWorthUp(valueE18: UsdE18, { decimals, usdE18 }: PricedToken): bigint {
	return mulDivUp(valueE18, 10n ** BigInt(decimals), usdE18);
}

/** Returns the amount of `to` with the same value as the amount of `from` by their feeds, rounded only once. */
export function convertDown(amount: Amount, from: PricedToken, to: PricedToken): bigint {
	return mulDivDown(
		amount,
		from.usdE18 * 10n ** BigInt(to.decimals),
		to.usdE18 * 10n ** BigInt(from.decimals),
	);
}

export function convertUp(amount: Amount, from: PricedToken, to: PricedToken): bigint {
	return mulDivUp(amount, from.usdE18 * 10n ** BigInt(to.decimals), to.usdE18 * 10n ** BigInt(from.decimals));
}

/** Converts USD of the configuration, rounded to a millionth. */
export function toUsdE18(usd: number): bigint {
	return BigInt(Math.round(usd * 1e6)) * 10n ** 12n;
}
