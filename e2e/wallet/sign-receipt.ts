import {
	fromSwapKey,
	type Order,
	orderId,
	orderToJson,
	receiptMessage,
	receiptTypedData,
	type SwapReceipt,
	swapUuidTimeMs,
	termsOfOrder,
	toSwapId,
} from "@geoswap/protocol";
import type { PrivateKeyAccount } from "viem/accounts";

/** The parts of a receipt that state how a swap ended. */
export type ReceiptClaim = Pick<
	SwapReceipt,
	"status" | "originTxHash" | "deliveryTxHash" | "refundTxHash" | "deliveredAmount"
>;

/** Signs the receipt of an order as the operator does, regardless of the claim. */
export async function signReceipt(
	key: PrivateKeyAccount,
	order: Order,
	claim: ReceiptClaim,
): Promise<SwapReceipt> {
	const uuid = fromSwapKey(order.swapKey);
	const statement = {
		swapId: toSwapId(uuid),
		orderId: orderId(order),
		order: orderToJson(order),
		terms: { ...termsOfOrder(order), output: "9980000", feeBps: 12.5 },
		quotedAt: new Date(swapUuidTimeMs(uuid)).toISOString(),
		createdAt: new Date().toISOString(),
		endedAt: new Date().toISOString(),
		...claim,
	};
	const signature = await key.signTypedData(receiptTypedData(receiptMessage(statement)));
	return { ...statement, signer: key.address, signature };
}
