import { BaseError, type Hex, RpcRequestError } from "viem";
import type { EvmChain } from "./chain-client.ts";

export type SendOutcome =
	| { outcome: "accepted" }
	/** A transaction with that nonce is in a block already, this one or another attempt. */
	| { outcome: "spent" }
	/** The sender cannot pay for it. */
	| { outcome: "unfunded"; problem: string }
	/** The node answered, and does not take these bytes. */
	| { outcome: "refused"; problem: string };

/** Offers a signed transaction to the chain. Throws where the chain says nothing. */
export async function sendRaw({ client }: EvmChain, raw: Hex): Promise<SendOutcome> {
	try {
		await client.request({ method: "eth_sendRawTransaction", params: [raw] });
		return { outcome: "accepted" };
	} catch (error) {
		// Only what the chain says: the whole message has the endpoint's address, which may hold a key.
		const problem = error instanceof BaseError ? error.details || error.shortMessage : String(error);
		if (/already (known|imported|exists)|known transaction/i.test(problem)) return { outcome: "accepted" };
		if (/nonce (is )?too low|nonce provided for the transaction is lower/i.test(problem)) {
			return { outcome: "spent" };
		}
		if (/insufficient ?funds|exceeds account balance/i.test(problem)) return { outcome: "unfunded", problem };
		const isAnswer =
			error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null;
		if (isAnswer) return { outcome: "refused", problem };
		throw new Error(problem);
	}
}
