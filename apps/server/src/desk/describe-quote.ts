import type { Amount, UsdE18 } from "@geoswap/protocol";
import { formatUnits } from "viem";
import type { Side } from "./desk-chain.ts";

const cent = 10n ** 16n;
const significantDigits = 6;

/** Returns a one-line summary in readable form. */
export function describeQuote({
	origin,
	destination,
	amount,
	output,
	accountCost,
}: {
	origin: Side;
	destination: Side;
	amount: Amount;
	output: Amount;
	/** The part of the output that pays for the recipient's token account. */
	accountCost: bigint;
}): string {
	const from = `${formatUnits(amount, origin.asset.decimals)} ${origin.asset.symbol}`;
	const to = `${roughly(output, destination.asset.decimals)} ${destination.asset.symbol}`;
	const swap = `${from} on ${origin.chain.name} -> about ${to} on ${destination.chain.name}`;
	if (accountCost === 0n) return swap;
	const cost = `${roughly(accountCost, destination.asset.decimals)} ${destination.asset.symbol}`;
	return `${swap}, after about ${cost} for the recipient's token account`;
}

/** Formats dollars and cents, rounded down. */
export function formatUsd(valueE18: UsdE18): string {
	const cents = String(valueE18 / cent).padStart(3, "0");
	return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

export function usdCentsUp(valueE18: UsdE18): bigint {
	return (valueE18 + cent - 1n) / cent;
}

/** Returns the change in value from input to output in basis points, negative for a loss, rounded toward worse. */
export function priceImpactBps({ inputE18, outputE18 }: { inputE18: UsdE18; outputE18: UsdE18 }): number {
	const change = (outputE18 - inputE18) * 10_000n;
	const isExact = change % inputE18 === 0n;
	return Number(change / inputE18 - (change < 0n && !isExact ? 1n : 0n));
}

/** Formats the first digits and rounds the rest down, because "about" must not promise more. */
function roughly(amount: Amount, decimals: number): string {
	const surplus = BigInt(Math.max(0, Math.min(String(amount).length - significantDigits, decimals)));
	return formatUnits((amount / 10n ** surplus) * 10n ** surplus, decimals);
}
