import type { Hex, TypedDataDefinition } from "viem";
import type { SwapReceipt } from "./wire/receipt.ts";

/**
 * The statement that the receipt key signs about an ended swap. The order's id covers all terms of the order. A text is
 * empty, and an amount "0", if the receipt does not have it. Amounts are decimal.
 */
export type ReceiptMessage = {
	swapId: string;
	status: string;
	orderId: Hex;
	output: string;
	feeBps: string;
	networkCostToken: string;
	networkCost: string;
	deliveredAmount: string;
	originTxHash: string;
	deliveryTxHash: string;
	refundTxHash: string;
	quotedAt: string;
	createdAt: string;
	endedAt: string;
};

const types = {
	Receipt: [
		{ name: "swapId", type: "string" },
		{ name: "status", type: "string" },
		{ name: "orderId", type: "bytes32" },
		{ name: "output", type: "uint256" },
		{ name: "feeBps", type: "string" },
		{ name: "networkCostToken", type: "string" },
		{ name: "networkCost", type: "uint256" },
		{ name: "deliveredAmount", type: "uint256" },
		{ name: "originTxHash", type: "string" },
		{ name: "deliveryTxHash", type: "string" },
		{ name: "refundTxHash", type: "string" },
		{ name: "quotedAt", type: "string" },
		{ name: "createdAt", type: "string" },
		{ name: "endedAt", type: "string" },
	],
} as const;

/** Returns the statement of a receipt, without its signature. */
export function receiptMessage(receipt: Omit<SwapReceipt, "signer" | "signature">): ReceiptMessage {
	const { terms } = receipt;
	return {
		swapId: receipt.swapId,
		status: receipt.status,
		orderId: receipt.orderId as Hex,
		output: terms.output,
		feeBps: String(terms.feeBps),
		networkCostToken: terms.networkCost?.token ?? "",
		networkCost: terms.networkCost?.amount ?? "0",
		deliveredAmount: receipt.deliveredAmount ?? "0",
		originTxHash: receipt.originTxHash ?? "",
		deliveryTxHash: receipt.deliveryTxHash ?? "",
		refundTxHash: receipt.refundTxHash ?? "",
		quotedAt: receipt.quotedAt,
		createdAt: receipt.createdAt,
		endedAt: receipt.endedAt ?? "",
	};
}

/** Returns the EIP-712 message that the receipt key signs. It is about two chains, so its domain names none. */
export function receiptTypedData(message: ReceiptMessage): TypedDataDefinition<typeof types, "Receipt"> {
	const { output, networkCost, deliveredAmount, ...texts } = message;
	return {
		domain: { name: "GeoswapReceipt", version: "1" },
		types,
		primaryType: "Receipt",
		message: {
			...texts,
			output: BigInt(output),
			networkCost: BigInt(networkCost),
			deliveredAmount: BigInt(deliveredAmount),
		},
	};
}
