import { getBase64Decoder } from "@solana/kit";
import { type SolanaWallet, toRemoteWallet } from "./solana-wallet.ts";
import { type SolanaOpToVerify, verifySolanaOp } from "./verify-solana-op.ts";

/**
 * Returns the transaction with the wallet's signature in it, in base64. Throws a VerificationError, and signs nothing,
 * unless the transaction does exactly what the caller requested and was quoted, with the accounts that the caller has
 * pinned.
 */
export async function verifyAndSignSolana({
	signer,
	...op
}: SolanaOpToVerify & { signer: SolanaWallet }): Promise<string> {
	const { address, signTransaction } = await toRemoteWallet(signer);
	const { unsigned } = await verifySolanaOp({ ...op, wallet: address });
	return getBase64Decoder().decode(await signTransaction(unsigned));
}
