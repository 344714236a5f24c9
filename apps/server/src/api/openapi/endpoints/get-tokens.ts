import { tokensQuerySchema, tokensResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleIntent } from "./example-swap.ts";

export const getTokensDoc: RouteDoc = {
	id: "getTokens",
	summary: "List tokens",
	description:
		"The tokens of one chain or of all chains. Each token that is `live` can be swapped into every other one that is. `POST /swap/quote` takes `address` as `inputToken` and `outputToken`. A `chainId` that is not offered is `INVALID_REQUEST`, which lists the chains that are.",
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
