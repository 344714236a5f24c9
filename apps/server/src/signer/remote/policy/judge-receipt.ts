import type { ReceiptMessage } from "@geoswap/protocol";
import type { Judgement } from "./judgement.ts";

/**
 * Returns what a receipt says. The signer does not compare it with the chains: whoever verifies a receipt does, and refuses
 * one that they contradict.
 */
export function judgeReceipt({ swapId, status, orderId }: ReceiptMessage): Judgement {
	return { kind: "receipt", charges: [], payouts: [], about: { swapId, status, orderId } };
}
