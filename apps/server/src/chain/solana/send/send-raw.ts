import type { SolanaDeployment } from "@geoswap/protocol";
import { isSolanaError } from "@solana/kit";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { type TransactionSimulation, toBase64 } from "./simulate-transaction.ts";

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

/** Errors that the node or the fee payer causes. */
const passing =
	/Blockhash ?NotFound|AccountInUse|ClusterMaintenance|InsufficientFundsForFee|AccountNotFound|WouldExceed/i;

/**
 * Returns whether a transaction would fail because of the node or one of our fee payers, and not because of the wallet
 * or the recipient. The same transaction may succeed later.
 */
export function isPassingFailure(
	{ reason, poorAccount }: Pick<Extract<TransactionSimulation, { ok: false }>, "reason" | "poorAccount">,
	{ feePayers }: Pick<SolanaDeployment, "feePayers">,
): boolean {
	return passing.test(reason) || (poorAccount !== undefined && feePayers.includes(poorAccount));
}
