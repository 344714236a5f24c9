import type { Milliseconds } from "@geoswap/protocol";
import type { ChainHead, WaitFor } from "../facts/facts.ts";
import type { OrderView } from "./order-view.ts";

/** Waits until the block of an event is final. */
export function untilFinalEvent(event: { blockNumber: number }, head: ChainHead): { wait: WaitFor } {
	return { wait: { finalized: { chainId: head.chainId, number: event.blockNumber } } };
}

/** Waits until a final block is past a time. Its number is unknown, so from then on each final block wakes the swap. */
export function untilFinal(
	{ nowMs }: { nowMs: Milliseconds },
	head: ChainHead,
	time: number,
): { wait: WaitFor } {
	const isNear = nowMs / 1_000 >= time;
	return { wait: isNear ? { finalized: { chainId: head.chainId, number: head.finalizedNumber + 1 } } : {} };
}

/** Waits until the order can no longer be filled. */
export function untilFillExpired(view: OrderView): { wait: WaitFor } {
	return untilFinal(view, view.destination, view.fillDeadline);
}

/** Waits until a block has this timestamp. The local clock may be past it already, but the chain uses its own. */
export function untilHeadIs(
	{ nowMs }: { nowMs: Milliseconds },
	head: ChainHead,
	time: number,
): { wait: WaitFor } {
	const isNear = nowMs / 1_000 >= time && head.timestamp < time;
	return { wait: isNear ? { head: { chainId: head.chainId, number: head.number + 1 } } : {} };
}
