import { quoteRequestSchema, quoteResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleIntent, exampleQuoteToken, exampleSwapId, exampleWallet } from "./example-swap.ts";

export const postQuoteDoc: RouteDoc = {
	id: "quote",
	summary: "Price a swap",
	description: `Prices a swap and seals all of its terms into \`geoQuoteToken\`. Nothing is reserved and no chain is asked: the
build call is the first to read the wallet's balance.

A quote expires after 30 seconds. Build it at once, and do not cache quotes: request a new one. Unknown fields are refused,
since a misspelt field could cost money.

**Next:** the build call that \`origin\` names: [build-geo-op](#buildGeoOp) or [build-solana-tx](#buildSolanaTx).`,
	body: quoteRequestSchema,
	response: quoteResponseSchema,
	errors: ["NO_ROUTE", "NEEDS_LARGER_SIZE", "INVALID_MANDATE", "MANDATE_ENDED", "OUTSIDE_MANDATE"],
	example: {
		body: exampleIntent,
		response: {
			geoQuoteToken: exampleQuoteToken,
			expiresAt: "2026-06-01T12:00:30.000Z",
			origin: "evm",
			output: "9980998",
			minOutput: "9931093",
			feeBps: 12.5,
			inputUsd: "10.00",
			outputUsd: "9.98",
			priceImpactBps: -20,
			swapId: exampleSwapId,
			recipient: exampleWallet,
			slippageBps: 50,
			etaSeconds: 16,
			summary: "10 USDC on Base -> about 9.98099 USDC on Optimism",
		},
	},
};
