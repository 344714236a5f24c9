import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";

/** Returns a transaction's message and its signatures in order, or undefined if the bytes are not a transaction. */
export function decodeWireTransaction(
	bytes: Uint8Array,
): { message: Uint8Array; signatures: Uint8Array[] } | undefined {
	try {
		const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
		const { header } = getCompiledTransactionMessageDecoder().decode(messageBytes);
		// Otherwise bytes that are all zero would pass for a transaction without signers.
		if (header.numSignerAccounts === 0) return undefined;
		return {
			message: new Uint8Array(messageBytes),
			signatures: Object.values(signatures).map((signature) => signature ?? new Uint8Array(64)),
		};
	} catch {
		return undefined;
	}
}
