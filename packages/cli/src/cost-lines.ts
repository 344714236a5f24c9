import type { Quote } from "@geoswap/sdk";
import { wholeTokens } from "./format-amount.ts";
import type { Line } from "./output.ts";
import { type Asset, nativeOf, type PinnedChain } from "./pinned-assets.ts";
import { reasonToAsk } from "./price-not-accepted.ts";

/** Returns one side of a swap for JSON output. */
export function assetJson({ chain, symbol, address, decimals }: Asset) {
	return { chainId: chain.chainId, chain: chain.name, symbol, token: address, decimals };
}

/** Returns what is given and by whom, for users. The address decides, so it is always shown. */
export function giveLines({
	from,
	amount,
	isMost = false,
	wallet,
}: {
	from: Asset;
	amount: bigint;
	/** True if the amount is a maximum. */
	isMost?: boolean;
	wallet: string;
}): Line[] {
	return [
		["give", `${isMost ? "at most " : ""}${wholeTokens(amount, from)} on ${from.chain.name}`],
		["", `token ${from.address}`],
		["", `wallet ${wallet}`],
	];
}

export function getLines({ to, quote }: { to: Asset; quote: Quote }): Line[] {
	const shown = (units: bigint) => wholeTokens(units, to);
	return [
		["get", `about ${shown(quote.output)} on ${to.chain.name}`],
		["", `at least ${shown(quote.minOutput)} (slippage ${quote.slippageBps} bps), or all back`],
		...(quote.topUp ? [["", `and ${showNative(to.chain, quote.topUp)} for gas`] satisfies Line] : []),
		["", `token ${to.address}`],
		["", `recipient ${quote.recipient}`],
	];
}

/** Returns an amount of a chain's native token, in smallest units if the deployment file does not list it. */
export function showNative(chain: PinnedChain, units: bigint): string {
	const native = nativeOf(chain);
	return native ? wholeTokens(units, native) : `${units} units of the native token`;
}

export function costLines(quote: Quote): Line[] {
	const { inputUsd, outputUsd, topUpUsd, priceImpactBps, warnings = [] } = quote;
	const gas = topUpUsd === undefined ? "" : `, ${topUpUsd} USD for gas`;
	const usd =
		inputUsd === undefined || outputUsd === undefined
			? ""
			: `; ${inputUsd} USD in, ${outputUsd} USD out${gas}`;
	const impact = priceImpactBps === undefined ? "" : `, ${priceImpactBps} bps with all costs`;
	return [
		["fee", `${quote.feeBps} bps${usd}${impact}`],
		["takes", `about ${quote.etaSeconds} s`],
		...warnings.map(({ code, message }): Line => ["warning", `${code}: ${message}`]),
	];
}

/** Returns what a swap at this price needs, if its minimum is not signed without approval. */
export function acceptanceLines({
	to,
	quote,
	floor,
	minOutput,
}: {
	to: Asset;
	quote: Quote;
	floor: bigint | undefined;
	minOutput: bigint | undefined;
}): Line[] {
	if (minOutput !== undefined || (floor !== undefined && quote.minOutput >= floor)) return [];
	return [
		["to sign", `geoswap swap asks you on a terminal: ${reasonToAsk(to, floor?.toString())}`],
		["", "elsewhere it needs --min-out or --accept-any-price"],
	];
}

/** Returns a quote without its sealed token, which is of no use here. */
export function quoteJson({ geoQuoteToken: _, ...quote }: Quote) {
	return quote;
}
