import {
	type Amount,
	type Milliseconds,
	type OrderJson,
	orderToJson,
	type SwapUuid,
	type UsdCents,
	type UsdE18,
} from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import type { NativeRecipient } from "../chain/evm/wallet/read-wallet.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskQuote } from "./desk.ts";
import type { Side } from "./desk-chain.ts";

/** The parts of a mandate that later steps need, and the gas and bytes that it adds to the transaction of an open. */
export type SealedMandate = TransactionShape & {
	digest: Hex;
	epoch: bigint;
	period: number;
	/** The cap on the order's input token, and the storage slot in which the wallet's account counts its use. */
	maxAmount: Amount;
	useSlot: Hex;
};

/** The content of a quote token: all terms of the swap, so that no later step has to store the quote. */
export type SealedQuote = {
	uuid: SwapUuid;
	order: OrderJson;
	output: Amount;
	delivery: Delivery;
	feeMillibps: number;
	networkCost: Amount;
	/** Absent in tokens that were sealed by an earlier version. */
	skewCentibps?: number;
	/** Absent if the recipient gets no native token of an EVM chain, or was not known. */
	nativeRecipient?: NativeRecipient;
	/** The mandate within which an agent will sign the order. */
	mandate?: SealedMandate;
	valueUsdCents: UsdCents;
	issuedAtMs: Milliseconds;
	/** The deadline for a build. */
	expiresAtMs: Milliseconds;
	/** The deadline for a first submit, of any build. */
	opExpiresAtMs: Milliseconds;
};

export function sealedQuote(quote: DeskQuote): SealedQuote {
	return {
		uuid: quote.uuid,
		order: orderToJson(quote.order),
		output: quote.output,
		delivery: quote.delivery,
		feeMillibps: quote.feeMillibps,
		networkCost: quote.networkCost,
		skewCentibps: quote.skewCentibps,
		...(quote.nativeRecipient && { nativeRecipient: quote.nativeRecipient }),
		valueUsdCents: quote.valueUsdCents,
		issuedAtMs: quote.issuedAtMs,
		expiresAtMs: quote.expiresAtMs,
		opExpiresAtMs: quote.opExpiresAtMs,
	};
}

const cent = 10n ** 16n;
const significantDigits = 6;

/** Returns a one-line summary in readable form. */
export function describeQuote({
	origin,
	destination,
	amount,
	output,
	accountCost,
	topUp,
}: {
	origin: Side;
	destination: Side;
	amount: Amount;
	output: Amount;
	/** The part of the output that pays for the recipient's token account. */
	accountCost: bigint;
	/** The native token that the recipient gets for its gas. */
	topUp: Amount;
}): string {
	const from = `${formatUnits(amount, origin.asset.decimals)} ${origin.asset.symbol}`;
	const to = `${roughly(output, destination.asset.decimals)} ${destination.asset.symbol}`;
	const { chain } = destination;
	const gas = topUp > 0n ? ` and ${roughly(topUp, chain.nativeDecimals)} ${chain.native.symbol} for gas` : "";
	const swap = `${from} on ${origin.chain.name} -> about ${to}${gas} on ${chain.name}`;
	if (accountCost === 0n) return swap;
	const cost = `${roughly(accountCost, destination.asset.decimals)} ${destination.asset.symbol}`;
	return `${swap}, after about ${cost} for the recipient's token account`;
}

/** Returns smallest units, and in parentheses the same amount in whole tokens. */
export function describeUnits({ asset: { decimals, symbol } }: Side, units: bigint): string {
	const [whole = "", fraction] = formatUnits(units, decimals).split(".");
	const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
	return `${units} (${fraction === undefined ? grouped : `${grouped}.${fraction}`} ${symbol})`;
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
