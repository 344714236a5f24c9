import {
	closeOrder,
	closeRecord,
	payInput,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

/** The number of instructions that surely fit into one transaction. */
export const instructionsPerSweep = 16;

const unitLimitPerInstruction = 5_000;

/** An account whose rent can be fetched: that of a record, or of a paid order. */
export type SweptAccount = {
	orderId: Hex;
	/** The account that paid the rent of an order. Absent for a record. */
	payer?: SolanaAddress;
	/**
	 * The owner of an order's input, if the account got SOL after the payment. The program then pays the owner again
	 * before it closes the account.
	 */
	owner?: SolanaAddress | undefined;
};

/** Closes accounts of the program. The rent of an order goes to its payer, that of a record to the vault. */
export async function signSweep({
	deployment,
	accounts,
	...parts
}: SigningParts & {
	deployment: SolanaDeployment;
	accounts: readonly SweptAccount[];
}): Promise<SignedTransaction> {
	const { address: program, vault } = deployment.program;
	const instructions = await Promise.all(
		accounts.flatMap(({ orderId, payer, owner }) => [
			...(owner ? [payInput(program, { orderId, token: solanaNativeToken, owner })] : []),
			payer ? closeOrder(program, orderId, payer) : closeRecord(program, orderId, vault),
		]),
	);
	if (instructions.length === 0 || instructions.length > instructionsPerSweep) {
		throw new RangeError(`${accounts.length} accounts cannot be closed at once`);
	}
	return signInstructions({
		...parts,
		unitLimit: unitLimitPerInstruction * instructions.length,
		instructions,
	});
}
