import { type QuoteResponse, quoteRequestSchema, toSwapId } from "@geoswap/protocol";
import type { FeeDiscounts } from "../discount/fee-discounts.ts";
import { discountedFee } from "../discount/fee-tier.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postQuoteDoc } from "../openapi/endpoints/post-quote.ts";
import type { SealKeys } from "../seal/seal-keys.ts";
import { sealToken } from "../seal/seal-token.ts";
import { sealedQuote } from "../venue/sealed-quote.ts";
import type { Desk } from "../venue/venue.ts";

/** POST /swap/quote: no query, no call to a chain. All that the swap will be is in the token. */
export function postQuote({
	desk,
	feeDiscounts,
	sealKeys,
}: {
	desk: Pick<Desk, "quote" | "baseFeeCentibps">;
	/** Absent where nobody pays less. */
	feeDiscounts: FeeDiscounts | undefined;
	sealKeys: SealKeys;
}): Route {
	return {
		method: "POST",
		path: "/swap/quote",
		operation: "quote",
		doc: postQuoteDoc,
		handle: async ({ body, account }): Promise<QuoteResponse> => {
			const request = parseRequest(quoteRequestSchema, body);
			const tier = feeDiscounts?.tierOf(request.walletAddress, {
				originChainId: request.originChain,
				accountId: account.accountId,
			});
			const { baseFeeCentibps } = desk;
			const feeCentibps = tier ? discountedFee(baseFeeCentibps, tier) : baseFeeCentibps;
			const quote = desk.quote(request, { feeCentibps });
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
				...(tier && {
					feeDiscount: {
						tier: tier.name,
						discountPercent: tier.discountPercent,
						baseFeeBps: baseFeeCentibps / 100,
					},
				}),
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
