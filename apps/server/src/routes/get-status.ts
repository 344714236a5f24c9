import {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	fromSwapId,
	isTerminal,
	type StatusResponse,
	SwapError,
	statusQuerySchema,
	toSwapId,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import type { Database } from "../store/database.ts";
import { readSwap } from "../store/read-swap.ts";
import type { SwapListener } from "../store/swap-listener.ts";
import type { SwapRecord } from "../store/swap-record.ts";

const holdSeconds = 15;

/** GET /swap/status/{swapId}. Held until the swap is terminal, for the time asked; a key holds only so many at once. */
export function getStatus({
	db,
	listener,
	finalitySeconds,
}: {
	db: Database;
	listener: SwapListener;
	/** Of each chain, by its id: in which what is sent there is final, or is sent again and final then. */
	finalitySeconds: ReadonlyMap<number, number>;
}): Route {
	const heldByKey = new Map<string, number>();
	return {
		method: "GET",
		path: "/swap/status/:swapId",
		operation: "status",
		async handle({ params, query, account, signal }) {
			const uuid = fromSwapId(params.swapId ?? "");
			if (!uuid) throw new SwapError("SWAP_NOT_FOUND", undefined);
			const { wait = holdSeconds } = parseRequest(statusQuerySchema, query);
			const held = heldByKey.get(account.keyId) ?? 0;
			if (wait === 0 || held >= account.limits.heldStatusCalls) return statusOf(await readOwn());

			heldByKey.set(account.keyId, held + 1);
			const stop = new AbortController();
			const stopWithCaller = () => stop.abort();
			signal.addEventListener("abort", stopWithCaller, { once: true });
			try {
				if (signal.aborted) stop.abort();
				const terminal = listener.waitForTerminal(uuid, wait * 1_000, stop.signal);
				const first = await readOwn();
				if (isTerminal(first.status)) return statusOf(first);
				await terminal;
				return statusOf(await readOwn());
			} finally {
				stop.abort();
				signal.removeEventListener("abort", stopWithCaller);
				const left = (heldByKey.get(account.keyId) ?? 1) - 1;
				if (left > 0) heldByKey.set(account.keyId, left);
				else heldByKey.delete(account.keyId);
			}

			async function readOwn(): Promise<SwapRecord> {
				const swap = await readSwap(db, uuid ?? "");
				if (swap?.accountId !== account.accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
				return swap;
			}
		},
	};

	function statusOf(swap: SwapRecord): StatusResponse {
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
			...(!isTerminal(swap.status) && { decidedBy: decidedBy(swap) }),
			updatedAt: swap.updatedAt.toISOString(),
			funds: fundsOf(swap),
		};
	}

	/**
	 * At the latest it is refunded once anyone may do that, and the refund is final. An input on Solana nobody but the
	 * service can refund, which does so before that time where its chains answer.
	 */
	function decidedBy({ order }: SwapRecord): string {
		const margin = [order.originChainId, order.destinationChainId]
			.map((chainId) => finalitySeconds.get(Number(chainId)) ?? 0)
			.reduce((sum, seconds) => sum + seconds, 0);
		return new Date((Number(unpackDeadlines(order.deadlines).refundAfter) + margin) * 1_000).toISOString();
	}
}

/** Where the money is now. */
function fundsOf(swap: SwapRecord): StatusResponse["funds"] {
	const { order, status, originTxHash, deliveryTxHash, deliveredAmount, output } = swap;
	// Hashes are noted as soon as a chain has them; a stage waits until they are deep.
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

/** As its chain writes it. */
function tokenOf(chainId: bigint, word: Hex): string {
	return formatAddress(chainId, addressOfWord(chainId, word));
}
