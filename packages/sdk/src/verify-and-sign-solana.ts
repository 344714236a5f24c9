import {
	getBase64Decoder,
	getTransactionDecoder,
	getTransactionEncoder,
	type TransactionPartialSigner,
} from "@solana/kit";
import { type SolanaOpToVerify, verifySolanaOp } from "./verify-solana-op.ts";

/**
 * The transaction with the wallet's signature in it, in base64. Throws a VerificationError, and signs nothing, unless
 * it does exactly what the caller asked for, as it was quoted, with the accounts it has pinned.
 *
 * The signer must sign the bytes as they are, as a key pair of `@solana/kit` does: a wallet that adds instructions of
 * its own makes another transaction, which the service refuses.
 */
export async function verifyAndSignSolana({
	signer,
	...op
}: SolanaOpToVerify & { signer: TransactionPartialSigner }): Promise<string> {
	const { unsigned } = await verifySolanaOp({ ...op, wallet: signer.address });
	const transaction = getTransactionDecoder().decode(unsigned);
	const [signatures] = await signer.signTransactions([
		// Until when it lives is the service's concern: the signer gets the bytes.
		transaction as Parameters<TransactionPartialSigner["signTransactions"]>[0][number],
	]);
	const signed = { ...transaction, signatures: { ...transaction.signatures, ...signatures } };
	return getBase64Decoder().decode(getTransactionEncoder().encode(signed));
}
