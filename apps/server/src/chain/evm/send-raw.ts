import { BaseError, type Hex } from "viem";
import type { EvmChain } from "./chain-client.ts";

/** `spent`: a transaction with that nonce is in a block already, this one or another attempt. */
export type SendOutcome = "accepted" | "spent";

/** Offers a signed transaction to the chain. Throws where the chain does not take it. */
export async function sendRaw({ client }: EvmChain, raw: Hex): Promise<SendOutcome> {
	try {
		await client.request({ method: "eth_sendRawTransaction", params: [raw] });
		return "accepted";
	} catch (error) {
		// Only what the chain says: the whole message has the endpoint's address, which may hold a key.
		const problem = error instanceof BaseError ? error.details || error.shortMessage : String(error);
		if (/already (known|imported|exists)|known transaction/i.test(problem)) return "accepted";
		if (/nonce (is )?too low|nonce provided for the transaction is lower/i.test(problem)) return "spent";
		throw new Error(problem);
	}
}
