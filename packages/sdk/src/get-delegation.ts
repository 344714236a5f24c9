import type { DelegationResponse } from "@geoswap/protocol";
import { type Answer, answerOf } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

export type Delegation = Answer<DelegationResponse>;

/** Returns whether the wallet is ready to swap from this chain, what it must sign if not, and its balance of a token. */
export async function getDelegation(
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
): Promise<Delegation> {
	const query = { chainId, walletAddress, token };
	return answerOf(await request<DelegationResponse>(client, { path: "/swap/delegation", query, signal }));
}
