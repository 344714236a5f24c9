import {
	expectOrigin,
	expectOthers,
	fromSolanaWord,
	type Order,
	type OrderTransaction,
	openTransaction,
	type SolanaAddress,
	type SolanaDeployment,
} from "@geoswap/protocol";
import { getTransactionDecoder, type TransactionPartialSigner } from "@solana/kit";
import { bytesToHex, concat, type Hex, hexToBytes, isHex } from "viem";
import { maximumTransactionBytes, type SignedTransaction } from "../send/sign-instructions.ts";
import { verifyWalletSignature } from "./check-signed-transaction.ts";

/** The maximum fees of an opening for the fee payer: 200,000 units at 5,000,000 micro-lamports are 0.001 SOL. */
export const maximumUnitLimit = 200_000;
export const maximumMicroLamportsPerUnit = 5_000_000n;

/** The reason why a fee payer does not sign. */
export class CoSignError extends Error {
	override name = "CoSignError";
}

/** The parts of the message that the wallet signed, beside the order. */
export type CoSignedOp = {
	feePayer: SolanaAddress;
	blockhash: string;
	compute: { unitLimit: number; microLamportsPerUnit: bigint };
	/** The wallet's signature, 64 bytes. */
	signature: Hex;
};

/**
 * Adds the fee payer's signature to the transaction that opens an order. The signed bytes are made here from the order,
 * so no others can be signed. They are signed only after the wallet's signature over the same bytes is verified.
 */
export async function coSignOrder({
	deployment,
	order,
	op,
	feePayerKey,
}: {
	deployment: SolanaDeployment;
	order: Order;
	op: CoSignedOp;
	feePayerKey: TransactionPartialSigner;
}): Promise<SignedTransaction> {
	if (op.feePayer !== feePayerKey.address || !deployment.feePayers.includes(op.feePayer)) {
		throw new CoSignError(`${op.feePayer} is not the signing fee payer`);
	}
	expectAffordable(op.compute);
	const { message, unsigned } = await orderBytes(deployment, order, op);
	const walletSignature = isHex(op.signature) ? hexToBytes(op.signature) : new Uint8Array();
	const isWallets = await verifyWalletSignature({
		wallet: fromSolanaWord(order.wallet),
		message,
		signature: walletSignature,
	});
	if (!isWallets)
		throw new CoSignError("the signature is not the wallet's signature over the order's transaction");
	const signature = bytesToHex(await signAsFeePayer(feePayerKey, unsigned));
	return { signature, raw: concat(["0x02", signature, bytesToHex(walletSignature), bytesToHex(message)]) };
}

type Signable = Parameters<TransactionPartialSigner["signTransactions"]>[0][number];

async function signAsFeePayer(key: TransactionPartialSigner, unsigned: Uint8Array): Promise<Uint8Array> {
	// Its size was checked above, and it lives as long as its blockhash.
	const transaction = getTransactionDecoder().decode(unsigned) as Signable;
	const [signatures] = await key.signTransactions([transaction]);
	const signature = signatures?.[key.address];
	if (!signature) throw new Error(`the signer of ${key.address} returned no signature`);
	return signature;
}

function expectAffordable({ unitLimit, microLamportsPerUnit }: CoSignedOp["compute"]): void {
	const isLimitFine = Number.isInteger(unitLimit) && unitLimit > 0 && unitLimit <= maximumUnitLimit;
	const isPriceFine = microLamportsPerUnit >= 0n && microLamportsPerUnit <= maximumMicroLamportsPerUnit;
	if (!isLimitFine || !isPriceFine) {
		throw new CoSignError(`${unitLimit} units at ${microLamportsPerUnit} micro-lamports cost too much`);
	}
}

async function orderBytes(
	deployment: SolanaDeployment,
	order: Order,
	op: CoSignedOp,
): Promise<OrderTransaction> {
	try {
		expectOrigin(deployment, order);
		expectOthers(deployment, order.wallet);
		const { message, unsigned } = await openTransaction(deployment, order, op);
		// There are two signers, the fee payer first, so the bytes have exactly two places for signatures.
		if (
			unsigned[0] !== 2 ||
			unsigned.length !== 129 + message.length ||
			unsigned.length > maximumTransactionBytes
		) {
			throw new RangeError("the transaction has another form");
		}
		return { message, unsigned };
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause);
		throw new CoSignError(`the order cannot be opened: ${reason}`, { cause });
	}
}
