import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import type { Order } from "../../order.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";
import { expectVault, isWithinSolana } from "./expect-origin.ts";
import { voidOrder } from "./vault-instructions.ts";

export type Voiding = { deployment: SolanaDeployment; operator: TransactionPartialSigner; order: Order };

/** Returns the instructions that close an order. Throws if it is not this deployment's. */
export async function voidInstructions({ deployment, operator, order }: Voiding): Promise<Instruction[]> {
	expectVault(deployment, order);
	if (isWithinSolana(order)) throw new RangeError("an order within Solana is only filled or refunded");
	return [await voidOrder(deployment.program.address, order, operator)];
}
