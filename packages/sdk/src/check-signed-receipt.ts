import {
	type Deployment,
	fromSwapKey,
	isSolana,
	type Order,
	orderId,
	orderSchema,
	orderToJson,
	receiptMessage,
	receiptResponseSchema,
	receiptTypedData,
	type SwapReceipt,
	solanaChainId,
	swapUuidTimeMs,
	termsOfOrder,
	toSolanaWord,
	toWord,
} from "@geoswap/protocol";
import { type Hex, recoverTypedDataAddress } from "viem";
import { ReceiptError } from "./receipt-error.ts";

/** Half of the curve's order. A signature with a higher `s` is another spelling of the same signature. */
const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const { terms } = receiptResponseSchema.shape;
const networkCost = terms.shape.networkCost.unwrap().strict().optional();
/** A receipt in which every field is signed or follows from signed fields. */
const wholeReceiptSchema = receiptResponseSchema
	.extend({ terms: terms.extend({ networkCost }).strict() })
	.strict();

export type SignedReceipt = { receipt: SwapReceipt; order: Order };

/**
 * Checks everything about a receipt that needs no chain: its form, that its fields agree with each other, that a pinned
 * key signed it, and that its order names pinned contracts. Every field is either signed or follows from signed fields,
 * in one spelling only.
 */
export async function checkSignedReceipt(
	input: unknown,
	{ pins }: { pins: Deployment },
): Promise<SignedReceipt> {
	const parsed = wholeReceiptSchema.safeParse(input);
	if (!parsed.success) {
		const [issue] = parsed.error.issues;
		throw new ReceiptError(issue?.path.join(".") || "its form", `is wrong: ${issue?.message}`);
	}
	const receipt = parsed.data;
	const order = readOrder(receipt);
	expectSame("orderId", receipt.orderId, orderId(order));
	const { output: _, feeBps: __, networkCost: ___, ...own } = receipt.terms;
	const signed = termsOfOrder(order);
	for (const name of Object.keys({ ...own, ...signed }) as (keyof typeof own)[]) {
		expectSame(`terms.${name}`, own[name], signed[name]);
	}
	if (BigInt(order.swapKey) >> 128n !== 0n) throw new ReceiptError("order.swapKey", "names no swap");
	const quotedAtMs = swapUuidTimeMs(fromSwapKey(order.swapKey));
	expectSame("quotedAt", receipt.quotedAt, new Date(quotedAtMs).toISOString());
	checkParts(receipt);
	checkPins(order, pins);
	await checkSignature(receipt, pins);
	return { receipt, order };
}

function readOrder({ order: json }: SwapReceipt): Order {
	const parsed = orderSchema.safeParse(json);
	if (!parsed.success) {
		const [issue] = parsed.error.issues;
		throw new ReceiptError(`order.${issue?.path.join(".")}`, `is wrong: ${issue?.message}`);
	}
	for (const [name, value] of Object.entries(orderToJson(parsed.data))) {
		expectSame(`order.${name}`, json[name], value);
	}
	return parsed.data;
}

/** Expects the parts that a receipt of this status has, and no others. */
function checkParts(receipt: SwapReceipt): void {
	const { status, deliveredAmount, deliveryTxHash, refundTxHash, originTxHash, terms } = receipt;
	const has = (field: string, isThere: boolean, isExpected: boolean) => {
		if (isThere === isExpected) return;
		throw new ReceiptError(field, `${isThere ? "is in" : "is missing from"} the receipt of a ${status} swap`);
	};
	has("deliveredAmount", deliveredAmount !== undefined, status === "settled");
	has("deliveryTxHash", deliveryTxHash !== undefined, status === "settled");
	has("refundTxHash", refundTxHash !== undefined, status === "refunded");
	if (status !== "settled") has("originTxHash", originTxHash !== undefined, status === "refunded");
	if (status === "settled" && BigInt(deliveredAmount ?? 0) < BigInt(terms.minOutput)) {
		throw new ReceiptError("deliveredAmount", `${deliveredAmount} is below the minimum ${terms.minOutput}`);
	}
}

/** Expects that the order names contracts, or the program on Solana, of the caller's deployment file. */
function checkPins(order: Order, pins: Deployment): void {
	const expectPinned = (field: string, word: Hex, pinned: readonly Hex[]) => {
		if (pinned.some((one) => one === word.toLowerCase())) return;
		throw new ReceiptError(`order.${field}`, `${word} is not in the deployment file`);
	};
	const on = (field: string, chainId: bigint) => {
		if (isSolana(chainId)) {
			if (!pins.solana) throw new ReceiptError(field, `names chain ${solanaChainId}, which is not pinned`);
			const { address, vault } = pins.solana.program;
			return { escrows: [toSolanaWord(address)], vaults: [toSolanaWord(vault)] };
		}
		const chain = pins.chains.find((candidate) => BigInt(candidate.chainId) === chainId);
		if (!chain) throw new ReceiptError(field, `names chain ${chainId}, which is not pinned`);
		const { escrow, earlierEscrows = [], vault, earlierVaults = [] } = chain.contracts;
		const words = (addresses: readonly Hex[]) => addresses.map((address) => toWord(address));
		return { escrows: words([escrow, ...earlierEscrows]), vaults: words([vault, ...earlierVaults]) };
	};
	const origin = on("order.originChainId", order.originChainId);
	const destination = on("order.destinationChainId", order.destinationChainId);
	expectPinned("escrow", order.escrow, origin.escrows);
	expectPinned("originVault", order.originVault, origin.vaults);
	expectPinned("destinationVault", order.destinationVault, destination.vaults);
}

async function checkSignature(receipt: SwapReceipt, { receiptSigners = [] }: Deployment): Promise<void> {
	const { signer, signature } = receipt;
	if (!receiptSigners.some((one) => one === signer)) {
		throw new ReceiptError("signer", `${signer} is not among receiptSigners of the deployment file`);
	}
	if (BigInt(`0x${signature.slice(66, 130)}`) > highestS) {
		throw new ReceiptError("signature", "is not in its one valid form");
	}
	const typed = receiptTypedData(receiptMessage(receipt));
	const recovered = await recoverTypedDataAddress({ ...typed, signature: signature as Hex }).catch(
		() => undefined,
	);
	if (recovered !== signer) throw new ReceiptError("signature", `is not that of ${signer} over this receipt`);
}

function expectSame(field: string, actual: unknown, expected: unknown): void {
	if (actual !== expected) throw new ReceiptError(field, `is ${actual}, but the order has ${expected}`);
}
