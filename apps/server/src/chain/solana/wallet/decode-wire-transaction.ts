import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";

/** A transaction's message and its signatures in their order, or undefined where the bytes are no transaction. */
export function decodeWireTransaction(
	bytes: Uint8Array,
): { message: Uint8Array; signatures: Uint8Array[] } | undefined {
	try {
		const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
		const { header } = getCompiledTransactionMessageDecoder().decode(messageBytes);
		// Nothing but zeros would pass for one that nobody signs.
		if (header.numSignerAccounts === 0) return undefined;
		return {
			message: new Uint8Array(messageBytes),
			signatures: Object.values(signatures).map((signature) => signature ?? new Uint8Array(64)),
		};
	} catch {
		return undefined;
	}
}
