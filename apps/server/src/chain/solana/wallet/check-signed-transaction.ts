import {
	fromSolanaWord,
	type Order,
	type OrderMessageParts,
	openTransaction,
	type SolanaDeployment,
	SwapError,
} from "@geoswap/protocol";
import { bytesEqual } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { isListed } from "../is-listed.ts";
import { maximumTransactionBytes } from "../send/sign-instructions.ts";
import { changedPart } from "./changed-part.ts";
import { decodeWireTransaction } from "./decode-wire-transaction.ts";
import { verifyWalletSignature } from "./verify-wallet-signature.ts";

const field = "signedTransaction";

/**
 * Returns the wallet's signature in a transaction that it signed, which must be the one that was built. Bytes in the
 * fee payer's place are ignored, because that signature is made elsewhere later. If the transaction cannot be built any
 * more, there is nothing to compare with. The caller may then only report what happened to the transaction.
 */
export async function checkSignedTransaction({
	deployment,
	order,
	parts,
	signedTransaction,
}: {
	/** Undefined if Solana is not offered any more. */
	deployment: SolanaDeployment | undefined;
	order: Order;
	parts: OrderMessageParts;
	/** Base64. */
	signedTransaction: string;
}): Promise<Hex> {
	const { message, signatures } = parseTransaction(signedTransaction);
	const built =
		deployment && isListed(deployment, order.inputToken)
			? await openTransaction(deployment, order, parts)
			: undefined;
	if (built && !bytesEqual(message, built.message)) {
		throw new SwapError("TRANSACTION_CHANGED", { changed: changedPart(built.message, message) });
	}
	const wallet = fromSolanaWord(order.wallet);
	const signature = signatures[1] ?? new Uint8Array();
	if (!(await verifyWalletSignature({ wallet, message, signature }))) {
		const isMissing = signature.every((byte) => byte === 0);
		throw new SwapError(
			"INVALID_SIGNATURE",
			{ expected: wallet },
			{
				message: isMissing
					? "The wallet's signature is missing. Sign unsignedTransaction with the wallet's key, as its second signer, and submit it again."
					: "The signature is not the wallet's signature over this transaction. Sign unsignedTransaction with the wallet's key and submit it again.",
			},
		);
	}
	return bytesToHex(signature);
}

function parseTransaction(text: string): { message: Uint8Array; signatures: Uint8Array[] } {
	// Four characters hold three bytes.
	if (text.length > Math.ceil(maximumTransactionBytes / 3) * 4)
		throw malformed("is longer than a transaction can be");
	const bytes = new Uint8Array(Buffer.from(text, "base64"));
	// The decoder skips characters that are not in its alphabet.
	if (text === "" || Buffer.from(bytes).toString("base64") !== text)
		throw malformed("must be base64, with padding");
	if (bytes.length > maximumTransactionBytes) throw malformed("is longer than a transaction can be");
	const transaction = decodeWireTransaction(bytes);
	if (!transaction) throw malformed("is not a Solana transaction");
	return transaction;
}

function malformed(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: field, message }] });
}
