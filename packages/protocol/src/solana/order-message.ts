import {
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransaction,
	createNoopSigner,
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
import { getAddMemoInstruction } from "@solana-program/memo";
import { getTransferSolInstruction } from "@solana-program/system";
import {
	findAssociatedTokenPda,
	getTransferCheckedInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { type Order, orderId } from "../order.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "./solana-address.ts";
import type { SolanaDeployment } from "./solana-deployment.ts";

/** The memo program that clusters and wallets know; the package's default is another. */
export const memoProgramAddress = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as SolanaAddress;

/** What of the message the order does not fix. */
export type OrderMessageParts = {
	/** One of the deployment's. */
	feePayer: SolanaAddress;
	/** The blockhash with which the message lives and dies. */
	blockhash: string;
	compute: { unitLimit: number; microLamportsPerUnit: bigint };
};

export type OrderTransaction = {
	/** What is signed. */
	message: Uint8Array;
	/** The whole transaction with no signature in it yet: the fee payer's place is first, the wallet's second. */
	unsigned: Uint8Array;
};

/**
 * The one transaction by which a Solana wallet commits its input: the whole amount to the escrow, and the order's id in
 * a memo. Its bytes follow from the order and these parts alone, so both sides make them, and neither believes the other.
 */
export async function orderTransaction(
	deployment: SolanaDeployment,
	order: Order,
	{ feePayer, blockhash, compute }: OrderMessageParts,
): Promise<OrderTransaction> {
	const instructions = [
		getSetComputeUnitLimitInstruction({ units: compute.unitLimit }),
		getSetComputeUnitPriceInstruction({ microLamports: compute.microLamportsPerUnit }),
		await depositInstruction(deployment, order),
		getAddMemoInstruction({ memo: orderId(order) }, { programAddress: memoProgramAddress }),
	];
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		// Until which height it lives is not part of the bytes.
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

/** The whole input from the wallet to the escrow. */
async function depositInstruction(deployment: SolanaDeployment, order: Order): Promise<Instruction> {
	const wallet = createNoopSigner(fromSolanaWord(order.wallet));
	const escrow = fromSolanaWord(order.escrow);
	const token = fromSolanaWord(order.inputToken);
	if (token === solanaNativeToken) {
		return getTransferSolInstruction({ source: wallet, destination: escrow, amount: order.inputAmount });
	}
	const asset = deployment.assets.find(({ address }) => address === token);
	if (!asset) throw new RangeError(`${token} is no asset of this deployment`);
	const [source, destination] = await Promise.all(
		[wallet.address, escrow].map((owner) => tokenAccountOf({ owner, token })),
	);
	if (!source || !destination) throw new RangeError("a transfer has two ends");
	return getTransferCheckedInstruction({
		source,
		mint: token,
		destination,
		authority: wallet,
		amount: order.inputAmount,
		decimals: asset.decimals,
	});
}

/** The one account in which an owner is expected to hold a token. */
export async function tokenAccountOf({
	owner,
	token,
}: {
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<SolanaAddress> {
	const [address] = await findAssociatedTokenPda({ owner, mint: token, tokenProgram: TOKEN_PROGRAM_ADDRESS });
	return address;
}
