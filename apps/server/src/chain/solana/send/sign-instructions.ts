import {
	appendTransactionMessageInstructions,
	type Blockhash,
	createTransactionMessage,
	getTransactionEncoder,
	type Instruction,
	pipe,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
	type TransactionPartialSigner,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { bytesToHex, type Hex, slice } from "viem";

/** A transaction as it is sent, and the signature that identifies it. */
export type SignedTransaction = { signature: Hex; raw: Hex };

/** The parts that every transaction of the service needs, beside its instructions. */
export type SigningParts = {
	/** One of the deployment's fee payers. */
	feePayer: TransactionPartialSigner;
	blockhash: string;
	/** In micro-lamports per compute unit. */
	computePrice: bigint;
};

// Limits of compute units are set per kind, for the Token program as it was before its last, much cheaper version. A
// transfer takes 6,500 units of it, an account 4,500, closing one 3,000, and an associated account some 25,000, plus
// 1,500 for each bump that is tried to derive its address.

/** The maximum size of a transaction in bytes. */
export const maximumTransactionBytes = 1232;

/** Signs with every key that the instructions carry. The same instructions and blockhash give the same bytes. */
export async function signInstructions({
	feePayer,
	blockhash,
	computePrice,
	unitLimit,
	instructions,
}: SigningParts & { unitLimit: number; instructions: readonly Instruction[] }): Promise<SignedTransaction> {
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
		// The last valid height is not part of the bytes.
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) =>
			appendTransactionMessageInstructions(
				[
					getSetComputeUnitLimitInstruction({ units: unitLimit }),
					getSetComputeUnitPriceInstruction({ microLamports: computePrice }),
					...instructions,
				],
				living,
			),
	);
	const signed = await signTransactionMessageWithSigners(message);
	const bytes = new Uint8Array(getTransactionEncoder().encode(signed));
	if (bytes.length > maximumTransactionBytes) {
		throw new RangeError(`a transaction of ${bytes.length} bytes is too large`);
	}
	const raw = bytesToHex(bytes);
	return { raw, signature: firstSignature(raw) };
}

/** Returns the fee payer's signature, which follows the one byte that counts the signatures. */
function firstSignature(raw: Hex): Hex {
	return slice(raw, 1, 65);
}

/** The service's keys on Solana. They sign transactions; their private halves cannot be read. */
export type SolanaKeys = {
	feePayers: TransactionPartialSigner[];
	/**
	 * An operator of the vault, which pays orders within the vault's caps. It also voids orders, and refunds those within
	 * Solana.
	 */
	operator: TransactionPartialSigner;
};
