import {
	type Deployment,
	type Order,
	orderId,
	orderToJson,
	receiptMessage,
	receiptTypedData,
	type SwapReceipt,
	termsOfOrder,
} from "@geoswap/protocol";
import { privateKeyToAccount } from "viem/accounts";
import { makeOrder, makeQuote, nowMs } from "./op-fixture.ts";
import * as solana from "./solana-op-fixture.ts";

/** A publicly known key. */
export const receiptKey = privateKeyToAccount(`0x${"22".repeat(32)}`);

export function makeReceiptPins(): Deployment {
	return { ...solana.makePins(), receiptSigners: [receiptKey.address] };
}

type Statement = Omit<SwapReceipt, "signer" | "signature">;

/** Returns the signed receipt of a settled swap with these changes. */
export async function makeReceipt(
	changes: Partial<Statement> = {},
	{ order = makeOrder(), key = receiptKey }: { order?: Order; key?: typeof receiptKey } = {},
): Promise<SwapReceipt> {
	return signReceipt(
		{
			swapId: makeQuote().swapId,
			status: "settled",
			orderId: orderId(order),
			order: orderToJson(order),
			terms: {
				...termsOfOrder(order),
				output: "9980000",
				feeBps: 9.375,
				networkCost: { token: termsOfOrder(order).outputToken, amount: "7500" },
			},
			deliveredAmount: "9980000",
			originTxHash: `0x${"a1".repeat(32)}`,
			deliveryTxHash: `0x${"a2".repeat(32)}`,
			quotedAt: new Date(nowMs).toISOString(),
			createdAt: new Date(nowMs + 3_000).toISOString(),
			endedAt: new Date(nowMs + 9_000).toISOString(),
			...changes,
		},
		key,
	);
}

/** Signs any statement, true or false. */
export async function signReceipt(statement: Statement, key = receiptKey): Promise<SwapReceipt> {
	const signature = await key.signTypedData(receiptTypedData(receiptMessage(statement)));
	return { ...statement, signer: key.address, signature };
}
