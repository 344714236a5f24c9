import {
	type Amount,
	fromSolanaWord,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
	transferInstruction,
} from "@geoswap/protocol";
import type { Instruction, TransactionSigner } from "@solana/kit";
import { getCreateAssociatedTokenIdempotentInstruction } from "@solana-program/token";
import type { Hex } from "viem";

/** Moves an asset between two owners. With `accountPaidBy`, the receiver's account is made if it is missing. */
export async function transferInstructions({
	deployment,
	accountPaidBy,
	...transfer
}: {
	deployment: SolanaDeployment;
	from: TransactionSigner;
	to: SolanaAddress;
	token: Hex;
	amount: Amount;
	accountPaidBy?: TransactionSigner | undefined;
}): Promise<Instruction[]> {
	const { from, to, token } = transfer;
	if (to === from.address) throw new RangeError(`${to} cannot pay itself`);
	const moving = await transferInstruction(deployment, transfer);
	const mint = fromSolanaWord(token);
	// Lamports need no account.
	if (!accountPaidBy || mint === solanaNativeToken) return [moving];
	const ata = await tokenAccountOf({ owner: to, token: mint });
	return [
		getCreateAssociatedTokenIdempotentInstruction({ payer: accountPaidBy, ata, owner: to, mint }),
		moving,
	];
}
