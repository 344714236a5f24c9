import { unpackDeadlines } from "@geoswap/protocol";
import type { ChainHead, Facts, OrderEvent } from "../store/facts.ts";
import type { SwapPolicy } from "./swap-policy.ts";

/** The facts, and what follows from them by the clocks alone. */
export type SwapView = Facts & {
	policy: SwapPolicy;
	nowMs: number;
	isPending: boolean;
	isCrossChain: boolean;
	openDeadline: number;
	fillDeadline: number;
	refundAfter: number;
	/** A transaction that was signed may still fill it. */
	isFillOut: boolean;
	/** The order cannot be opened in any block that is still to come. */
	isOpenExpired: boolean;
	/** The order cannot be filled in any block that is still to come. */
	isFillExpired: boolean;
};

export function swapView(facts: Facts, policy: SwapPolicy, nowMs: number): SwapView {
	const { swap, origin, destination, jobs } = facts;
	const deadlines = unpackDeadlines(swap.order.deadlines);
	const fillDeadline = Number(deadlines.fillDeadline);
	const openDeadline = Number(deadlines.openDeadline);
	const isFillExpired = destination.finalizedTimestamp >= fillDeadline;
	return {
		...facts,
		policy,
		nowMs,
		isPending: swap.status === "pending",
		isCrossChain: swap.order.originChainId !== swap.order.destinationChainId,
		openDeadline,
		fillDeadline,
		refundAfter: Number(deadlines.refundAfter),
		isFillOut: !isFillExpired && (jobs.fill?.state === "sent" || jobs.fill?.state === "done"),
		isOpenExpired: origin.finalizedTimestamp > openDeadline,
		isFillExpired,
	};
}

/** A fill that is dropped by its chain must leave time to see that, and to fill again. */
export function lastFillAt({ fillDeadline, policy }: SwapView): number {
	return fillDeadline - policy.destination.finalitySeconds;
}

export function isTooLateToFill(view: SwapView): boolean {
	return Math.max(view.destination.timestamp, view.nowMs / 1_000) >= lastFillAt(view);
}

/** In which an op that was dropped is seen to be gone, sent again and mined. */
const mostSecondsToBringBack = 60;

/** Deep enough for its value, with time left to bring it back should the chain drop it; or final. */
export function isDeposited(view: SwapView, opened: OrderEvent): boolean {
	if (isFinal(opened, view.origin)) return true;
	const secondsLeft = view.openDeadline - Math.max(view.origin.timestamp, view.nowMs / 1_000);
	const toBringBack = Math.min(mostSecondsToBringBack, view.policy.origin.finalitySeconds);
	return isDeep(view, opened, view.origin) && secondsLeft >= toBringBack;
}

/** Deep enough for its value, with time left to deliver again should the chain drop it; or final. */
export function isDelivered(view: SwapView, filled: OrderEvent): boolean {
	if (isFinal(filled, view.destination)) return true;
	const secondsLeft = lastFillAt(view) - Math.max(view.destination.timestamp, view.nowMs / 1_000);
	return isDeep(view, filled, view.destination) && secondsLeft >= view.policy.destination.finalitySeconds;
}

/** Longer without a block than a chain that is well, or a follower that is. Deposits may be gone that it still shows. */
export function isStale({ policy, origin, nowMs }: SwapView, head: ChainHead): boolean {
	const { finalitySeconds } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return nowMs / 1_000 - head.timestamp > Math.max(60, finalitySeconds / 10);
}

export function isFinal(event: { blockNumber: number }, head: ChainHead): boolean {
	return event.blockNumber <= head.finalizedNumber;
}

/** As deep as the swap's value asks for on that chain. */
export function isDeep(view: SwapView, event: { blockNumber: number }, head: ChainHead): boolean {
	const blocks = depthBlocks(view, head);
	return isFinal(event, head) || (blocks !== undefined && head.number - event.blockNumber >= blocks);
}

export function depthBlocks({ swap, policy, origin }: SwapView, head: ChainHead): number | undefined {
	const { depths } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return depths
		.toSorted((a, b) => a.upToUsd - b.upToUsd)
		.find(({ upToUsd }) => swap.valueUsdCents <= BigInt(Math.floor(upToUsd * 100)))?.blocks;
}
