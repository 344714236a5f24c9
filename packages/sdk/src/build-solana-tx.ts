import type { BuildSolanaResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Turns a quote from Solana into a transaction to sign. It expires with its blockhash, so sign it immediately. */
export function buildSolanaTx(
	client: Client,
	{ geoQuoteToken, signal }: { geoQuoteToken: string; signal?: AbortSignal | undefined },
): Promise<BuildSolanaResponse> {
	return request(client, { path: "/swap/build-solana-tx", body: { geoQuoteToken }, signal });
}
