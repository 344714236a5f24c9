import {
	formatTransactionHash,
	isTerminal,
	orderToJson,
	type ReceiptMessage,
	receiptMessage,
	SwapError,
	type SwapReceipt,
	swapUuidTimeMs,
	toSwapId,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { termsOf } from "./swap-answer.ts";

/**
 * The key that signs receipts. `sign` returns 65 bytes with a low `s`, and rejects if the key's backend does not
 * answer.
 */
export type ReceiptSigner = { address: Address; sign: (message: ReceiptMessage) => Promise<Hex> };

/** Cached signatures, so that a repeated request for a receipt costs no signature. */
const maxKept = 1_000;

/** Creates the receipts of ended swaps. */
export type Receipts = {
	/** False if the service signs no receipts. */
	isOffered: boolean;
	/** Returns the swap's signed receipt. Throws if the service signs none, or the swap has not ended. */
	of(swap: SwapRecord): Promise<SwapReceipt>;
};

export function createReceipts(signer: ReceiptSigner | undefined): Receipts {
	const kept = new Map<string, Hex>();

	/** Signs a statement, or returns the cached signature. A delivery that was repeated is signed again. */
	async function signOnce(by: ReceiptSigner, message: ReceiptMessage): Promise<Hex> {
		const text = JSON.stringify(message);
		const known = kept.get(text);
		if (known) return known;
		const signature = await by.sign(message).catch((cause: unknown) => {
			throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: "the receipt key" }, { cause });
		});
		const [oldest] = kept.keys();
		if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
		kept.set(text, signature);
		return signature;
	}

	return {
		isOffered: signer !== undefined,
		async of(swap) {
			if (!signer) throw new SwapError("RECEIPTS_NOT_OFFERED", undefined);
			const statement = statementOf(swap);
			if (!statement) throw new SwapError("SWAP_NOT_ENDED", undefined);
			const signature = await signOnce(signer, receiptMessage(statement));
			return { ...statement, signer: signer.address, signature };
		},
	};
}

/**
 * Returns the statement about a swap, or undefined if it has not ended. It contains only transactions that prove its
 * end.
 */
function statementOf(swap: SwapRecord): Omit<SwapReceipt, "signer" | "signature"> | undefined {
	const { order, status, originTxHash, deliveryTxHash, refundTxHash, deliveredAmount } = swap;
	if (!isTerminal(status)) return undefined;
	const { originChainId, destinationChainId } = order;
	return {
		swapId: toSwapId(swap.id),
		status,
		orderId: swap.orderId,
		order: orderToJson(order),
		terms: termsOf(swap),
		...(status === "settled" && deliveredAmount && { deliveredAmount: String(deliveredAmount) }),
		...(status !== "failed" &&
			originTxHash && { originTxHash: formatTransactionHash(originChainId, originTxHash) }),
		...(status === "settled" &&
			deliveryTxHash && { deliveryTxHash: formatTransactionHash(destinationChainId, deliveryTxHash) }),
		...(status === "refunded" &&
			refundTxHash && { refundTxHash: formatTransactionHash(originChainId, refundTxHash) }),
		quotedAt: new Date(swapUuidTimeMs(swap.id)).toISOString(),
		createdAt: swap.createdAt.toISOString(),
		...(swap.decidedAt && { endedAt: swap.decidedAt.toISOString() }),
	};
}
