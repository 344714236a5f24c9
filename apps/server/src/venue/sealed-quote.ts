import type { OrderJson, SwapUuid } from "@geoswap/protocol";
import { orderToJson } from "@geoswap/protocol";
import type { Delivery } from "../store/swap-record.ts";
import type { DeskQuote } from "./venue.ts";

/** What a quote token holds: everything that the swap will be, so that no later step needs to remember the quote. */
export type SealedQuote = {
	uuid: SwapUuid;
	order: OrderJson;
	output: bigint;
	delivery: Delivery;
	feeCentibps: number;
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
		feeCentibps: quote.feeCentibps,
		valueUsdCents: quote.valueUsdCents,
		issuedAtMs: quote.issuedAtMs,
		expiresAtMs: quote.expiresAtMs,
		opExpiresAtMs: quote.opExpiresAtMs,
	};
}
