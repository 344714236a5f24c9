import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap, Books } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";
import { checkMoves } from "./check-balances.ts";
import type { ExposedChain } from "./check-exposure.ts";
import { checkDepositDepth } from "./check-order.ts";
import { checkSwap } from "./check-swap.ts";
import { checkWaits } from "./check-waits.ts";

/**
 * Checks each swap of the books against what happened to its order. A swap on a chain that does not respond, or that
 * the service no longer offers, is only checked against the books themselves.
 */
export function checkSwaps(
	books: Books,
	{
		chains,
		histories,
		unchecked,
		owed,
		policySinceMs,
		workingSinceMs,
		nowMs,
	}: {
		/** The chains that the service offers. */
		chains: readonly ExposedChain[];
		histories: ReadonlyMap<Hex, OrderHistory>;
		unchecked: ReadonlySet<number>;
		/** Orders whose refunds the service owes. */
		owed: ReadonlySet<Hex>;
		policySinceMs: Milliseconds | undefined;
		workingSinceMs: Milliseconds;
		nowMs: Milliseconds;
	},
): {
	/** The number of swaps that were checked against their chains. */
	judged: number;
	breaches: Finding[];
	/** The chains that the service no longer offers, once for each swap that ended there. */
	leftChains: bigint[];
} {
	const offered = new Set(chains.map(({ chainId }) => BigInt(chainId)));
	const chainsOf = ({ order }: AuditedSwap) => [...new Set([order.originChainId, order.destinationChainId])];
	// A chain may leave the service once its swaps have ended. It is then no longer read.
	const leftChainsOf = (swap: AuditedSwap) =>
		swap.isEnded ? chainsOf(swap).filter((id) => !offered.has(id)) : [];
	const judged = books.swaps.filter(
		(swap) => chainsOf(swap).every((id) => !unchecked.has(Number(id))) && leftChainsOf(swap).length === 0,
	);
	const chainOf = (id: bigint) => chains.find(({ chainId }) => BigInt(chainId) === id);
	const breaches = [
		...books.swaps.flatMap((swap) => [
			...checkMoves(swap),
			...checkDepositDepth(swap, {
				policy: chainOf(swap.order.originChainId)?.policy ?? {},
				crossChecks: books.crossChecks,
				policySinceMs,
			}),
		]),
		...judged.flatMap((swap) => {
			const { originChainId: from, destinationChainId: to } = swap.order;
			return checkSwap(swap, {
				history: histories.get(swap.orderId),
				finalAt: { origin: chainOf(from)?.finalAt, destination: chainOf(to)?.finalAt },
				bookedAt: { origin: books.bookedAt.get(Number(from)), destination: books.bookedAt.get(Number(to)) },
				nowMs,
				isOwed: owed.has(swap.orderId),
				workingSinceMs,
			});
		}),
		...checkWaits(books.swaps, { workingSeconds: (nowMs - workingSinceMs) / 1_000 }),
	];
	return { judged: judged.length, breaches, leftChains: books.swaps.flatMap(leftChainsOf) };
}
