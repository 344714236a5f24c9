import { isSolanaError } from "@solana/kit";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { toBase64 } from "./simulate-transaction.ts";

/** Offers a signed transaction to the chain, which does not report what becomes of it. */
export async function sendRaw({ rpc }: SolanaChain, raw: Hex): Promise<void> {
	try {
		await rpc
			.sendTransaction(toBase64(raw), { encoding: "base64", skipPreflight: true, maxRetries: 0n })
			.send();
	} catch (error) {
		// Only the node's own message, because a whole error may contain the endpoint's URL, which may hold a key.
		throw new Error(isSolanaError(error) ? error.message : "the chain does not answer");
	}
}
