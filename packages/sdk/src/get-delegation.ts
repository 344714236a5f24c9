import type { DelegationResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns whether the wallet is ready to swap from this chain and, if not, what it must sign. */
export function getDelegation(
	client: Client,
	{
		chainId,
		walletAddress,
		signal,
	}: { chainId: number; walletAddress: string; signal?: AbortSignal | undefined },
): Promise<DelegationResponse> {
	return request(client, { path: "/swap/delegation", query: { chainId, walletAddress }, signal });
}
