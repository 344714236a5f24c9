import type { Seconds } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import type { Config } from "../config/config.ts";
import type { Side } from "./desk-chain.ts";
import type { Supply } from "./price-swap.ts";

/**
 * Standard deviations of the price that the option costs. At four, the mean gain of a caller who always chooses best is
 * seven millionths of one standard deviation, as docs/decisions/0018 derives.
 */
const deviations = 4;
const yearSeconds = 365.25 * 86_400;
/** Thousandths of a basis point in 100 %. */
const millibpsOfAll = 10_000_000;
/** A newly signed fill usually lands in one of the next two blocks of its chain. */
const blocksToLand = 2;
const minSecondsToLand = 5;

/**
 * Returns the price of the caller's option, in thousandths of a basis point of the value. It is the configured price
 * of the pair, or more if the recipient can still refuse a signed fill.
 */
export function optionPrice(
	{
		origin,
		destination,
		supply,
		blockSeconds,
	}: { origin: Side; destination: Side; supply: Supply; blockSeconds: Seconds },
	{ optionCentibps, volatilityPercent }: Pick<Config["price"], "optionCentibps" | "volatilityPercent">,
): number {
	const areStable = origin.asset.kind === "stable" && destination.asset.kind === "stable";
	const isStable = areStable || supply === "same-asset";
	const configured = 10 * (isStable ? optionCentibps.stable : optionCentibps.volatile);
	if (!canRefuse(destination)) return configured;
	const volatility = volatilityOfPair() / 100;
	const seconds = Math.max(minSecondsToLand, blocksToLand * blockSeconds);
	const share = deviations * volatility * Math.sqrt(seconds / yearSeconds);
	return Math.max(configured, Math.ceil(share * millibpsOfAll));

	/** Returns the volatility of the paid token's price in the input. The same asset moves only as its feeds lag. */
	function volatilityOfPair(): number {
		if (supply === "same-asset") return Math.hypot(volatilityPercent.stable, volatilityPercent.stable);
		return Math.hypot(volatilityOf(origin.asset), volatilityPaid(destination));
	}

	function volatilityOf({ symbol, kind }: Side["asset"]): number {
		return volatilityPercent.bySymbol[symbol] ?? volatilityPercent[kind];
	}

	/**
	 * Returns the volatility of the token that the vault pays. Through the router that is the settlement token, which
	 * buys the output at the market.
	 */
	function volatilityPaid({ chain, asset }: Side): number {
		return chain.kind === "solana" || supply === "inventory" ? volatilityOf(asset) : volatilityPercent.stable;
	}
}

/**
 * Returns true if the recipient can make a signed fill fail. A contract can reject the native token, and the owner of
 * a token account on Solana can close it. No recipient can reject an ERC-20 transfer.
 */
function canRefuse({ chain, asset }: Side): boolean {
	return chain.kind === "solana" || asset.address === zeroAddress;
}
