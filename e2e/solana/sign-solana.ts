import {
	appendTransactionMessageInstructions,
	type Base64EncodedWireTransaction,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getSignatureFromTransaction,
	type Instruction,
	type KeyPairSigner,
	pipe,
	type Signature,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import type { SolanaTestChain } from "./solana-chain.ts";

/** Returns a transaction with a new blockhash, signed by all signers of its instructions. */
export async function signSolana(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	{ feePayer, instructions }: { feePayer: KeyPairSigner; instructions: readonly Instruction[] },
): Promise<{ signature: Signature; wire: Base64EncodedWireTransaction }> {
	const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
		(paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	const transaction = await signTransactionMessageWithSigners(message);
	return {
		signature: getSignatureFromTransaction(transaction),
		wire: getBase64EncodedWireTransaction(transaction),
	};
}
