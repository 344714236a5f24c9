import type { SolanaDeployment } from "@geoswap/protocol";
import type { TransactionSimulation } from "./simulate-transaction.ts";

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
