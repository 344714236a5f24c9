import { type QuoteResponse, quoteRequestSchema, toSwapId } from "@geoswap/protocol";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import type { SealKeys } from "../seal/seal-keys.ts";
import { sealToken } from "../seal/seal-token.ts";
import { sealedQuote } from "../venue/sealed-quote.ts";
import type { Desk } from "../venue/venue.ts";

/** POST /swap/quote: no query, no call to a chain. All that the swap will be is in the token. */
export function postQuote({ desk, sealKeys }: { desk: Pick<Desk, "quote">; sealKeys: SealKeys }): Route {
	return {
		method: "POST",
		path: "/swap/quote",
		operation: "quote",
		handle: async ({ body, account }): Promise<QuoteResponse> => {
			const quote = desk.quote(parseRequest(quoteRequestSchema, body));
			const geoQuoteToken = await sealToken(sealKeys, {
				purpose: `quote:${quote.originKind}`,
				accountId: account.accountId,
				payload: sealedQuote(quote),
			});
			return {
				geoQuoteToken,
				expiresAt: new Date(quote.expiresAtMs).toISOString(),
				origin: quote.originKind,
				output: String(quote.output),
				minOutput: String(quote.minOutput),
				feeBps: quote.feeBps,
				inputUsd: quote.inputUsd,
				outputUsd: quote.outputUsd,
				priceImpactBps: quote.priceImpactBps,
				...(quote.warnings.length > 0 && { warnings: quote.warnings }),
				swapId: toSwapId(quote.uuid),
				recipient: quote.recipient,
				slippageBps: quote.slippageBps,
				etaSeconds: quote.etaSeconds,
				summary: quote.summary,
			};
		},
	};
}
