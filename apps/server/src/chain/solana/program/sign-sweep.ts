import { closeOrder, closeRecord, type SolanaAddress, type SolanaDeployment } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

/** The number of accounts that surely fit into one transaction. */
export const accountsPerSweep = 16;

const unitLimitPerAccount = 5_000;

/** An account whose rent can be fetched: a paid order's, with who paid the rent, or a record. */
export type SweptAccount = { orderId: Hex; payer: SolanaAddress } | { orderId: Hex; payer?: undefined };

/** Closes accounts of the program. The rent of an order goes to who paid it, that of a record to the vault. */
export async function signSweep({
	deployment,
	accounts,
	...parts
}: SigningParts & {
	deployment: SolanaDeployment;
	accounts: readonly SweptAccount[];
}): Promise<SignedTransaction> {
	if (accounts.length === 0 || accounts.length > accountsPerSweep) {
		throw new RangeError(`${accounts.length} accounts cannot be closed at once`);
	}
	const { address: program, vault } = deployment.program;
	const instructions = accounts.map(({ orderId, payer }) =>
		payer === undefined ? closeRecord(program, orderId, vault) : closeOrder(program, orderId, payer),
	);
	return signInstructions({
		...parts,
		unitLimit: unitLimitPerAccount * accounts.length,
		instructions: await Promise.all(instructions),
	});
}
