import { type Filling, fillInstructions } from "@geoswap/protocol";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

const unitLimit = { fill: 60_000, account: 60_000 };

/**
 * Pays an order's output from the vault, which the program allows once. If the input is on Solana too, the fill
 * releases it, and the same transaction takes it to the vault.
 */
export async function signFill({
	deployment,
	operator,
	order,
	amount,
	createsAccount,
	...parts
}: SigningParts & Filling): Promise<SignedTransaction> {
	const { feePayer } = parts;
	return signInstructions({
		...parts,
		unitLimit: unitLimit.fill + (createsAccount ? unitLimit.account : 0),
		instructions: await fillInstructions({ deployment, feePayer, operator, order, amount, createsAccount }),
	});
}
