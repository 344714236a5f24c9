import {
	type Address,
	appendTransactionMessageInstruction,
	type Blockhash,
	createKeyPairSignerFromBytes,
	createTransactionMessage,
	getTransactionEncoder,
	pipe,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { deriveSolanaDevnetKeys } from "./development-solana-keys.ts";

/** Makes a transfer from the faucet, whose lamports never run out. */
export async function airdropTransaction({
	to,
	lamports,
	blockhash,
}: {
	to: Address;
	lamports: bigint;
	blockhash: Blockhash;
}): Promise<Uint8Array> {
	const faucet = await createKeyPairSignerFromBytes(deriveSolanaDevnetKeys().actors.faucet);
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(faucet, empty),
		(paid) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 0n }, paid),
		(living) =>
			appendTransactionMessageInstruction(
				getTransferSolInstruction({ source: faucet, destination: to, amount: lamports }),
				living,
			),
	);
	return new Uint8Array(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message)));
}
