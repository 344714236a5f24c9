import type { SolanaDeployment } from "@geoswap/protocol";
import type { TransactionSimulation } from "./simulate-transaction.ts";

/** The node, or who pays the fee, is the cause. */
const passing =
	/Blockhash ?NotFound|AccountInUse|ClusterMaintenance|InsufficientFundsForFee|AccountNotFound|WouldExceed/i;

/**
 * Whether a transaction would fail for the sake of the node or of a fee payer of ours, and not for what the wallet or
 * the recipient did: the same may do later.
 */
export function isPassingFailure(
	{ reason, poorAccount }: Pick<Extract<TransactionSimulation, { ok: false }>, "reason" | "poorAccount">,
	{ feePayers }: Pick<SolanaDeployment, "feePayers">,
): boolean {
	return passing.test(reason) || (poorAccount !== undefined && feePayers.includes(poorAccount));
}
