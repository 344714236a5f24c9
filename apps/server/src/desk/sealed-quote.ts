import type { Amount, Milliseconds, OrderJson, SwapUuid, UsdCents } from "@geoswap/protocol";
import { orderToJson } from "@geoswap/protocol";
import type { NativeRecipient } from "../chain/evm/wallet/read-native-recipient.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskQuote } from "./venue.ts";

/** The content of a quote token: all terms of the swap, so that no later step has to store the quote. */
export type SealedQuote = {
	uuid: SwapUuid;
	order: OrderJson;
	output: Amount;
	delivery: Delivery;
	feeMillibps: number;
	/** Absent in a token sealed by the previous version. */
	networkCost?: Amount;
	/** Absent if the output is not an EVM chain's native token, or its recipient was not known. */
	nativeRecipient?: NativeRecipient;
	valueUsdCents: UsdCents;
	issuedAtMs: Milliseconds;
	/** The deadline for a build. */
	expiresAtMs: Milliseconds;
	/** The deadline for a first submit, from whichever build. */
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
		...(quote.nativeRecipient && { nativeRecipient: quote.nativeRecipient }),
		valueUsdCents: quote.valueUsdCents,
		issuedAtMs: quote.issuedAtMs,
		expiresAtMs: quote.expiresAtMs,
		opExpiresAtMs: quote.opExpiresAtMs,
	};
}

/**
 * Returns the content of a quote token in this version's form. A token sealed by the previous version has its fee in
 * hundredths of a basis point.
 */
export function openedQuote(
	sealed: SealedQuote | (Omit<SealedQuote, "feeMillibps"> & { feeCentibps: number }),
): SealedQuote {
	if ("feeMillibps" in sealed) return sealed;
	const { feeCentibps, ...quote } = sealed;
	return { ...quote, feeMillibps: 10 * feeCentibps };
}
