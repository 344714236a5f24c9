import { tokensQuerySchema, tokensResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleIntent } from "./example-swap.ts";

export const getTokensDoc: RouteDoc = {
	id: "getTokens",
	summary: "The tokens of a chain, or of all",
	description:
		"What can be swapped: each token can be an input or an output, to and from every other that is `live`. `address` is what `POST /swap/quote` takes as `inputToken` and `outputToken`. A `chainId` that is not offered is `INVALID_REQUEST`, which lists those that are.",
	query: tokensQuerySchema,
	response: tokensResponseSchema,
	errors: ["INVALID_REQUEST"],
	example: {
		query: { chainId: String(exampleIntent.originChain) },
		response: {
			tokens: [
				{
					chainId: exampleIntent.originChain,
					symbol: "USDC",
					decimals: 6,
					kind: "stable",
					native: false,
					address: exampleIntent.inputToken,
					live: true,
					minimumUsd: "1.00",
					maximumUsd: "250000.00",
				},
				{
					chainId: exampleIntent.originChain,
					symbol: "ETH",
					decimals: 18,
					kind: "volatile",
					native: true,
					address: "0x0000000000000000000000000000000000000000",
					live: true,
					minimumUsd: "1.00",
					maximumUsd: "250000.00",
				},
			],
		},
	},
};
