import type { OrderJson, SwapUuid } from "@geoswap/protocol";
import { orderToJson } from "@geoswap/protocol";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskQuote } from "./venue.ts";

/** What a quote token holds: everything that the swap will be, so that no later step needs to remember the quote. */
export type SealedQuote = {
	uuid: SwapUuid;
	order: OrderJson;
	output: bigint;
	delivery: Delivery;
	feeMillibps: number;
	valueUsdCents: bigint;
	issuedAtMs: number;
	/** The last moment for a build. */
	expiresAtMs: number;
	/** The last moment for a first submit, whichever build it comes from. */
	opExpiresAtMs: number;
};

export function sealedQuote(quote: DeskQuote): SealedQuote {
	return {
		uuid: quote.uuid,
		order: orderToJson(quote.order),
		output: quote.output,
		delivery: quote.delivery,
		feeMillibps: quote.feeMillibps,
		valueUsdCents: quote.valueUsdCents,
		issuedAtMs: quote.issuedAtMs,
		expiresAtMs: quote.expiresAtMs,
		opExpiresAtMs: quote.opExpiresAtMs,
	};
}

/**
 * Returns what a quote token holds, in the form of this version. A token that the version before sealed has its fee in
 * hundredths of a basis point.
 */
export function openedQuote(
	sealed: SealedQuote | (Omit<SealedQuote, "feeMillibps"> & { feeCentibps: number }),
): SealedQuote {
	if ("feeMillibps" in sealed) return sealed;
	const { feeCentibps, ...quote } = sealed;
	return { ...quote, feeMillibps: 10 * feeCentibps };
}
