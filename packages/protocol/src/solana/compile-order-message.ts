import {
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransaction,
	createTransactionMessage,
	getTransactionEncoder,
	type Instruction,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import type { SolanaAddress } from "./solana-address.ts";

/** The parts of the message that the order does not fix. */
export type OrderMessageParts = {
	/** One of the deployment's fee payers. */
	feePayer: SolanaAddress;
	/** The blockhash that the message expires with. */
	blockhash: string;
	compute: { unitLimit: number; microLamportsPerUnit: bigint };
};

export type OrderTransaction = {
	/** The bytes that are signed. */
	message: Uint8Array;
	/** The whole unsigned transaction. The fee payer's signature goes to the first place, the wallet's to the second. */
	unsigned: Uint8Array;
};

/** Returns the transaction with these instructions behind those that set its fee. */
export function compileOrderMessage(
	{ feePayer, blockhash, compute }: OrderMessageParts,
	instructions: readonly Instruction[],
): OrderTransaction {
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		// The last valid block height is not part of the bytes.
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) =>
			appendTransactionMessageInstructions(
				[
					getSetComputeUnitLimitInstruction({ units: compute.unitLimit }),
					getSetComputeUnitPriceInstruction({ microLamports: compute.microLamportsPerUnit }),
					...instructions,
				],
				living,
			),
	);
	const transaction = compileTransaction(message);
	return {
		message: new Uint8Array(transaction.messageBytes),
		unsigned: new Uint8Array(getTransactionEncoder().encode(transaction)),
	};
}
