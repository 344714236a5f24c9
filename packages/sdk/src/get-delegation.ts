import type { DelegationResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns whether the wallet is ready to swap from this chain, what it must sign if not, and its balance of a token. */
export function getDelegation(
	client: Client,
	{
		chainId,
		walletAddress,
		token,
		signal,
	}: {
		chainId: number;
		walletAddress: string;
		token?: string | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<DelegationResponse> {
	return request(client, { path: "/swap/delegation", query: { chainId, walletAddress, token }, signal });
}
