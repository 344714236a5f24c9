import {
	formatAddress,
	SwapError,
	type TokenEntry,
	type TokensResponse,
	tokensQuerySchema,
	tokensResponseSchema,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { isOfferedTo } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Desk } from "../../desk/desk.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { exampleIntent } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** GET /tokens?chainId=: the tokens that can be swapped, on one chain or on all. */
export function getTokens({
	config,
	desk,
	pauses,
}: {
	config: Pick<Config, "chains" | "price">;
	desk: Pick<Desk, "isLive">;
	pauses: Pick<PauseList, "reasonOf">;
}): Route {
	return {
		method: "GET",
		path: "/tokens",
		operation: "list",
		doc: getTokensDoc,
		handle: async ({ query, account: { accountId } }): Promise<TokensResponse> => {
			const { chainId } = parseRequest(tokensQuerySchema, query);
			const { price } = config;
			const chains = config.chains.filter((chain) => isOfferedTo(accountId, chain));
			const known = chains.map((chain) => chain.chainId);
			if (chainId !== undefined && !known.includes(chainId)) {
				const message = `not a chain of this service; its chains are: ${known.join(", ")}`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "chainId", message }] });
			}
			return {
				tokens: configuredAssets({ chains })
					.filter((listed) => chainId === undefined || listed.chainId === chainId)
					.map(({ token, isNative, ...listed }) => ({
						...listed,
						native: isNative,
						address: formatAddress(listed.chainId, token),
						...liveness({ chainId: listed.chainId, token }),
						minimumUsd: formatUsd(price.minimumUsd),
						maximumUsd: formatUsd(price.maximumUsd),
					})),
			};
		},
	};

	function liveness(asset: { chainId: number; token: Hex }): Pick<TokenEntry, "live" | "paused"> {
		const paused = pauses.reasonOf(asset.chainId, asset.token);
		return paused === undefined ? { live: desk.isLive(asset) } : { live: false, paused };
	}
}

/** Formats a number from the config with two to six decimals. */
function formatUsd(usd: number): string {
	return usd.toFixed(6).replace(/0{1,4}$/, "");
}

const getTokensDoc: RouteDoc = {
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
