import { zeroAddress } from "viem";
import type { Config } from "../config/config.ts";
import type { Side } from "./desk-chain.ts";

/**
 * How many standard deviations of the price the option costs. At four, the mean gain of a caller who always chooses best
 * is seven millionths of one standard deviation: docs/decisions/0018 derives it.
 */
const deviations = 4;
const yearSeconds = 365.25 * 86_400;
/** A thousandth of a basis point is a ten-millionth. */
const millibpsOfAll = 10_000_000;
/** A fill that was just signed is usually in one of the next two blocks of its chain. */
const blocksToLand = 2;
const leastSecondsToLand = 5;

/**
 * Returns what the caller's option costs, in thousandths of a basis point of the value: the configured price of the pair,
 * or more where the recipient can still refuse a fill that is signed.
 */
export function optionPrice(
	{ origin, destination, blockSeconds }: { origin: Side; destination: Side; blockSeconds: number },
	{ optionCentibps, volatilityPercent }: Pick<Config["price"], "optionCentibps" | "volatilityPercent">,
): number {
	const areStable = origin.asset.kind === "stable" && destination.asset.kind === "stable";
	const configured = 10 * (areStable ? optionCentibps.stable : optionCentibps.volatile);
	if (!canRefuse(destination)) return configured;
	const volatility = Math.hypot(volatilityOf(origin.asset), volatilityPaid(destination)) / 100;
	const seconds = Math.max(leastSecondsToLand, blocksToLand * blockSeconds);
	const share = deviations * volatility * Math.sqrt(seconds / yearSeconds);
	return Math.max(configured, Math.ceil(share * millibpsOfAll));

	function volatilityOf({ symbol, kind }: Side["asset"]): number {
		return volatilityPercent.bySymbol[symbol] ?? volatilityPercent[kind];
	}

	/** On an EVM chain the vault pays its settlement token, which buys the output at the market. */
	function volatilityPaid({ chain, asset }: Side): number {
		return chain.kind === "solana" ? volatilityOf(asset) : volatilityPercent.stable;
	}
}

/**
 * Whether the recipient can make a signed fill fail: a contract can reject the native token, and the owner of a token
 * account on Solana can close it. Nobody can reject an ERC-20 transfer.
 */
function canRefuse({ chain, asset }: Side): boolean {
	return chain.kind === "solana" || asset.address === zeroAddress;
}
