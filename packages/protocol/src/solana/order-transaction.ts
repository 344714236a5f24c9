import {
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransaction,
	createNoopSigner,
	createTransactionMessage,
	getTransactionEncoder,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { getAddMemoInstruction } from "@solana-program/memo";
import { type Order, orderId } from "../order.ts";
import { fromSolanaWord, type SolanaAddress } from "./solana-address.ts";
import type { SolanaDeployment } from "./solana-deployment.ts";
import { transferInstruction } from "./transfer-instruction.ts";

/** The memo program that clusters and wallets know; the package's default is a different one. */
export const memoProgramAddress = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as SolanaAddress;

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
	/** The whole transaction with no signature in it yet: the fee payer's place is first, the wallet's second. */
	unsigned: Uint8Array;
};

/**
 * Returns the one transaction by which a Solana wallet commits its input: the whole amount to the escrow, and the
 * order's id in a memo. Its bytes follow from the order and these parts alone, so both sides build them and neither
 * has to trust the other.
 */
export async function orderTransaction(
	deployment: SolanaDeployment,
	order: Order,
	{ feePayer, blockhash, compute }: OrderMessageParts,
): Promise<OrderTransaction> {
	const instructions = [
		getSetComputeUnitLimitInstruction({ units: compute.unitLimit }),
		getSetComputeUnitPriceInstruction({ microLamports: compute.microLamportsPerUnit }),
		await transferInstruction(deployment, {
			from: createNoopSigner(fromSolanaWord(order.wallet)),
			to: fromSolanaWord(order.escrow),
			token: order.inputToken,
			amount: order.inputAmount,
		}),
		getAddMemoInstruction({ memo: orderId(order) }, { programAddress: memoProgramAddress }),
	];
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		// The last valid block height is not part of the bytes.
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	const transaction = compileTransaction(message);
	return {
		message: new Uint8Array(transaction.messageBytes),
		unsigned: new Uint8Array(getTransactionEncoder().encode(transaction)),
	};
}
