import {
	fromSolanaWord,
	type Order,
	type OrderMessageParts,
	openTransaction,
	type SolanaAddress,
	type SolanaDeployment,
	SwapError,
} from "@geoswap/protocol";
import {
	bytesEqual,
	type CompiledTransactionMessage,
	getCompiledTransactionMessageDecoder,
	getPublicKeyFromAddress,
	getTransactionDecoder,
	isSignatureBytes,
	verifySignature,
} from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { isListed } from "../read/read-listed.ts";
import { maximumTransactionBytes } from "../send/sign-instructions.ts";

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

type ChangedPart =
	| "version"
	| "fee payer"
	| "blockhash"
	| "lookup tables"
	| "instructions"
	| "accounts"
	| "bytes";
type V0 = Extract<CompiledTransactionMessage, { version: 0 }>;

/** Returns the first part found in a message that is not as it was built. */
function changedPart(built: Uint8Array, given: Uint8Array): ChangedPart {
	const before = decode(built);
	const after = decode(given);
	if (before?.version !== 0 || !after) return "bytes";
	if (after.version !== 0) return "version";
	if (before.staticAccounts[0] !== after.staticAccounts[0]) return "fee payer";
	if (before.lifetimeToken !== after.lifetimeToken) return "blockhash";
	if ((after.addressTableLookups ?? []).length > 0) return "lookup tables";
	if (!isSame(calls(before), calls(after))) return "instructions";
	if (!isSame(accounts(before), accounts(after))) return "accounts";
	return "bytes";
}

function decode(message: Uint8Array) {
	try {
		return getCompiledTransactionMessageDecoder().decode(message);
	} catch {
		return undefined;
	}
}

/** Returns the programs that are called, each with its data, in order. */
function calls({ instructions, staticAccounts }: V0) {
	return instructions.map(({ programAddressIndex, data }) => [
		staticAccounts[programAddressIndex],
		...(data ?? []),
	]);
}

/** Returns the accounts, which of them sign or are written, and which instruction takes which. */
function accounts({ header, staticAccounts, instructions }: V0) {
	return [header, staticAccounts, instructions.map(({ accountIndices }) => accountIndices ?? [])];
}

function isSame(left: unknown, right: unknown): boolean {
	return JSON.stringify(left) === JSON.stringify(right);
}

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

/** Returns whether this is the wallet's signature over exactly these bytes. An address that is no key signs nothing. */
export async function verifyWalletSignature({
	wallet,
	message,
	signature,
}: {
	wallet: SolanaAddress;
	message: Uint8Array;
	signature: Uint8Array;
}): Promise<boolean> {
	if (!isSignatureBytes(signature)) return false;
	try {
		return await verifySignature(await getPublicKeyFromAddress(wallet), signature, message);
	} catch {
		return false;
	}
}
