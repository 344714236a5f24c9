import {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	isTerminal,
	type StatusResponse,
	swapUuidTimeMs,
	termsOfOrder,
	toSwapId,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { ExplorerPages } from "../../config/explorer-pages.ts";
import type { FinalitySeconds } from "../../config/finality-seconds.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";

/** The settings that an answer depends on besides the swap. */
export type AnswerParts = { finalitySeconds: FinalitySeconds; explorers: Pick<ExplorerPages, "transaction"> };

/** Returns a swap as its account gets it. */
export function swapAnswer(swap: SwapRecord, { finalitySeconds, explorers }: AnswerParts): StatusResponse {
	const { originChainId, destinationChainId } = swap.order;
	const originTxHash = swap.originTxHash && formatTransactionHash(originChainId, swap.originTxHash);
	const deliveryTxHash =
		swap.deliveryTxHash && formatTransactionHash(destinationChainId, swap.deliveryTxHash);
	const refundTxHash = swap.refundTxHash && formatTransactionHash(originChainId, swap.refundTxHash);
	const pageOf = (chainId: bigint, hash: string | undefined) =>
		hash && explorers.transaction(Number(chainId), hash);
	const origin = pageOf(originChainId, originTxHash);
	const delivery = pageOf(destinationChainId, deliveryTxHash);
	const refund = pageOf(originChainId, refundTxHash);
	return {
		swapId: toSwapId(swap.id),
		status: swap.status,
		...(originTxHash && { originTxHash }),
		...(deliveryTxHash && { deliveryTxHash }),
		stage: swap.stage,
		orderId: swap.orderId,
		...(refundTxHash && { refundTxHash }),
		...(swap.failure && { failure: swap.failure }),
		...(!isTerminal(swap.status) && { decidedBy: decidedBy(swap, finalitySeconds) }),
		updatedAt: swap.updatedAt.toISOString(),
		funds: fundsOf(swap),
		terms: termsOf(swap),
		...(swap.deliveredAmount !== undefined && { deliveredAmount: String(swap.deliveredAmount) }),
		quotedAt: new Date(swapUuidTimeMs(swap.id)).toISOString(),
		createdAt: swap.createdAt.toISOString(),
		...(swap.openedAt && { openedAt: swap.openedAt.toISOString() }),
		...(swap.deliveredAt && { deliveredAt: swap.deliveredAt.toISOString() }),
		...(swap.decidedAt && { endedAt: swap.decidedAt.toISOString() }),
		links: { ...(origin && { origin }), ...(delivery && { delivery }), ...(refund && { refund }) },
	};
}

/** Returns what was agreed at submit, with the names of the quote. */
export function termsOf({ order, output, feeMillibps, networkCost }: SwapRecord): StatusResponse["terms"] {
	return {
		...termsOfOrder(order),
		output: String(output),
		feeBps: feeMillibps / 1_000,
		...(networkCost && {
			networkCost: {
				token: formatAddress(order.destinationChainId, networkCost.token),
				amount: String(networkCost.amount),
			},
		}),
	};
}

/**
 * Returns the time by which the swap is decided at the latest. By then anyone may have refunded it, and the refund is
 * final.
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
	// Hashes are stored as soon as a transaction is in a block. A stage waits until it is deep enough.
	if (status === "settled" || (status === "pending" && deliveryTxHash)) {
		return {
			chainId: Number(order.destinationChainId),
			holder: "recipient",
			token: addressOn(order.destinationChainId, order.outputToken),
			amount: String(deliveredAmount ?? output),
		};
	}
	const isInWallet = status !== "pending" || !originTxHash;
	return {
		chainId: Number(order.originChainId),
		holder: isInWallet ? "wallet" : "escrow",
		token: addressOn(order.originChainId, order.inputToken),
		amount: String(order.inputAmount),
	};
}

/** Formats an address of an order as its chain writes it. */
function addressOn(chainId: bigint, word: Hex): string {
	return formatAddress(chainId, addressOfWord(chainId, word));
}
