import type { TokensResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns the swappable tokens of one chain, or of all chains. */
export function getTokens(
	client: Client,
	{ chainId, signal }: { chainId?: number; signal?: AbortSignal | undefined } = {},
): Promise<TokensResponse> {
	return request(client, { path: "/tokens", query: { chainId }, signal });
}
