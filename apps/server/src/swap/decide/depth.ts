import type { ChainHead, OrderEvent, WaitFor } from "../facts/facts.ts";
import { blocksNeeded, isDeepAt, isFinalAt } from "./deposit-policy.ts";
import { lastFillAt, type SwapView } from "./swap-view.ts";
import { untilFinalEvent } from "./until.ts";

export function isFinal(event: { blockNumber: number }, head: ChainHead): boolean {
	return isFinalAt(event.blockNumber, head);
}

/** Returns whether an event is as deep as the swap's value requires on that chain. */
export function isDeep(view: SwapView, event: { blockNumber: number }, head: ChainHead): boolean {
	return isDeepAt(event.blockNumber, head, depthBlocks(view, head));
}

export function depthBlocks({ swap, policy, origin }: SwapView, head: ChainHead): number | undefined {
	return blocksNeeded(
		head.chainId === origin.chainId ? policy.origin : policy.destination,
		swap.valueUsdCents,
	);
}

export function untilDeep(
	view: SwapView,
	event: { blockNumber: number },
	head: ChainHead,
): { wait: WaitFor } {
	const blocks = depthBlocks(view, head);
	const number = event.blockNumber + (blocks ?? 0);
	const { wait } = untilFinalEvent(event, head);
	const isAhead = blocks !== undefined && number > head.number;
	return { wait: isAhead ? { ...wait, head: { chainId: head.chainId, number } } : wait };
}

/** Returns whether the deposit is final, or deep enough for its value with time to bring it back if it is dropped. */
export function isDeposited(view: SwapView, opened: OrderEvent): boolean {
	return isFinal(opened, view.origin) || isDeepInTime(view, opened);
}

export function isDeepInTime(view: SwapView, opened: OrderEvent): boolean {
	return isDeep(view, opened, view.origin) && view.originRules.canBringBack(view);
}

/**
 * Returns whether the delivery is final, or deep enough for its value with time and inventory to repeat it if dropped.
 */
export function isDelivered(view: SwapView, filled: OrderEvent): boolean {
	if (isFinal(filled, view.destination)) return true;
	// A swap that was given up when its row was recreated, with its order open, is closed if this delivery is dropped.
	if (view.swap.givingUp || !view.isReserved) return false;
	const { destination } = view.policy;
	const secondsLeft = lastFillAt(view) - Math.max(view.destination.timestamp, view.nowMs / 1_000);
	// Another fill is signed only once the dropped one is dead.
	const secondsToFillAgain = destination.finalitySeconds + destination.deadAfterSeconds;
	return isDeep(view, filled, view.destination) && secondsLeft >= secondsToFillAgain;
}
