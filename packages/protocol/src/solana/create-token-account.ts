import type { Instruction, TransactionSigner } from "@solana/kit";
import { getCreateAssociatedTokenIdempotentInstruction } from "@solana-program/token";
import type { SolanaAddress } from "./solana-address.ts";
import { tokenAccountOf } from "./transfer-instruction.ts";

/** Creates an owner's account for a token at the payer's cost, if it is missing. */
export async function createTokenAccount({
	payer,
	owner,
	token,
}: {
	payer: TransactionSigner;
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<Instruction> {
	const ata = await tokenAccountOf({ owner, token });
	return getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint: token });
}
