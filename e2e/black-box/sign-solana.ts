import {
	getBase64EncodedWireTransaction,
	getBase64Encoder,
	getTransactionDecoder,
	type KeyPairSigner,
	partiallySignTransaction,
} from "@solana/kit";
import type { SolanaBuild } from "./swap-api.ts";

/** Returns the transaction unchanged, with the wallet's signature added. */
export async function signUnsigned(
	signer: KeyPairSigner,
	{ unsignedTransaction }: SolanaBuild,
): Promise<string> {
	const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(unsignedTransaction));
	return getBase64EncodedWireTransaction(await partiallySignTransaction([signer.keyPair], transaction));
}
