import type { TokensResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns the tokens that can be swapped, on one chain or on all. */
export function getTokens(
	client: Client,
	{ chainId, signal }: { chainId?: number; signal?: AbortSignal | undefined } = {},
): Promise<TokensResponse> {
	return request(client, { path: "/tokens", query: chainId === undefined ? {} : { chainId }, signal });
}
