import { expectVault, isWithinSolana, type Order, type SolanaDeployment, voidOrder } from "@geoswap/protocol";
import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

const unitLimit = 40_000;

type Voiding = { deployment: SolanaDeployment; operator: TransactionPartialSigner; order: Order };

/** Closes an order from another chain permanently, so that no fill can land any more. Fails if one did. */
export async function signVoid({
	deployment,
	operator,
	order,
	...parts
}: SigningParts & Voiding): Promise<SignedTransaction> {
	const instructions = await voidInstructions({ deployment, operator, order });
	return signInstructions({ ...parts, unitLimit, instructions });
}

/** Returns the instructions that close an order. Throws if it is not this deployment's. */
export async function voidInstructions({ deployment, operator, order }: Voiding): Promise<Instruction[]> {
	expectVault(deployment, order);
	if (isWithinSolana(order)) throw new RangeError("an order within Solana is only filled or refunded");
	return [await voidOrder(deployment.program.address, order, operator)];
}
