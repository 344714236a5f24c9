import { BaseError, type Hex, RpcRequestError } from "viem";
import type { EvmChain } from "../connect-chain.ts";

export type SendOutcome =
	| { outcome: "accepted" }
	/** A transaction with that nonce is in a block already, this one or another attempt. */
	| { outcome: "spent" }
	/** The sender cannot pay for it. */
	| { outcome: "unfunded"; problem: string }
	/** The chain does not take these bytes, because of their content or only because of their fees or nonce. */
	| { outcome: "refused"; problem: string; isForContent: boolean };

const termsProblem = /nonce|underpriced|\bfees?\b|fee ?(too|per|cap)|gas ?price|gas tip/i;
const contentProblem =
	/intrinsic gas|gas limit|gas required|revert|authori[sz]ation(?! header)|authority|delegat|already reserved|invalid (transaction|tx|sender|signature|chain)|(transaction|tx) type|oversized data|initcode/i;

/**
 * Sends a signed transaction to the chain. Throws if no node answers, or if the answer is not about the transaction.
 */
export async function sendRaw({ client }: EvmChain, raw: Hex): Promise<SendOutcome> {
	try {
		await client.request({ method: "eth_sendRawTransaction", params: [raw] });
		return { outcome: "accepted" };
	} catch (error) {
		// Only the node's own message, because the error's message contains the endpoint's URL, which may hold a key.
		const problem = error instanceof BaseError ? error.details || error.shortMessage : String(error);
		if (isKnown(problem)) return { outcome: "accepted" };
		if (isSpent(problem)) return { outcome: "spent" };
		if (/insufficient ?funds|exceeds account balance/i.test(problem)) return { outcome: "unfunded", problem };
		const isAnswer =
			error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null;
		// A provider that limits our requests answers too, but that is no reason to abandon a transaction.
		const isForContent = contentProblem.test(problem);
		if (isAnswer && (isForContent || termsProblem.test(problem))) {
			return { outcome: "refused", problem, isForContent };
		}
		throw new Error(problem);
	}
}

/** Returns whether a node refuses a transaction because it has it already. */
function isKnown(problem: string): boolean {
	return /already (known|imported|exists)|known transaction/i.test(problem);
}

/** Returns whether a node refuses a transaction because its nonce is used already. */
function isSpent(problem: string): boolean {
	return /nonce (is )?too low|nonce provided for the transaction is lower/i.test(problem);
}

/** Returns whether a refusal shows that the chain has the transaction, or another with its nonce. */
export function isKnownOrSpent(problem: string): boolean {
	return isKnown(problem) || isSpent(problem);
}
