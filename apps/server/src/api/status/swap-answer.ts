import {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	isTerminal,
	type StatusResponse,
	toSwapId,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { FinalitySeconds } from "../../config/finality-seconds.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";

/** Returns a swap as its account sees it. */
export function swapAnswer(
	swap: SwapRecord,
	{ finalitySeconds }: { finalitySeconds: FinalitySeconds },
): StatusResponse {
	const { originChainId, destinationChainId } = swap.order;
	return {
		swapId: toSwapId(swap.id),
		status: swap.status,
		...(swap.originTxHash && { originTxHash: formatTransactionHash(originChainId, swap.originTxHash) }),
		...(swap.deliveryTxHash && {
			deliveryTxHash: formatTransactionHash(destinationChainId, swap.deliveryTxHash),
		}),
		stage: swap.stage,
		orderId: swap.orderId,
		...(swap.refundTxHash && { refundTxHash: formatTransactionHash(originChainId, swap.refundTxHash) }),
		...(swap.failure && { failure: swap.failure }),
		...(!isTerminal(swap.status) && { decidedBy: decidedBy(swap, finalitySeconds) }),
		updatedAt: swap.updatedAt.toISOString(),
		funds: fundsOf(swap),
	};
}

/**
 * Returns the time by which the swap is decided: at the latest, anyone may refund it, and the refund is final. Only the
 * service can refund an input on Solana; it does so before that time if its chains answer.
 */
function decidedBy({ order }: SwapRecord, finalitySeconds: FinalitySeconds): string {
	const margin = [order.originChainId, order.destinationChainId]
		.map((chainId) => finalitySeconds.get(Number(chainId)) ?? 0)
		.reduce((sum, seconds) => sum + seconds, 0);
	return new Date((Number(unpackDeadlines(order.deadlines).refundAfter) + margin) * 1_000).toISOString();
}

/** Returns where the money is now. */
function fundsOf(swap: SwapRecord): StatusResponse["funds"] {
	const { order, status, originTxHash, deliveryTxHash, deliveredAmount, output } = swap;
	// Hashes are recorded as soon as a chain has them; a stage waits until they are deep enough.
	if (status === "settled" || (status === "pending" && deliveryTxHash)) {
		return {
			chainId: Number(order.destinationChainId),
			holder: "recipient",
			token: tokenOf(order.destinationChainId, order.outputToken),
			amount: String(deliveredAmount ?? output),
		};
	}
	const isInWallet = status !== "pending" || !originTxHash;
	return {
		chainId: Number(order.originChainId),
		holder: isInWallet ? "wallet" : "escrow",
		token: tokenOf(order.originChainId, order.inputToken),
		amount: String(order.inputAmount),
	};
}

/** Formats the token's address as its chain writes it. */
function tokenOf(chainId: bigint, word: Hex): string {
	return formatAddress(chainId, addressOfWord(chainId, word));
}
