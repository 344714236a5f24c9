import type { Milliseconds } from "@geoswap/protocol";
import type { ChainHead, Facts } from "../facts/facts.ts";
import type { ChainRules } from "./chain-rules.ts";
import { evmRules } from "./evm-rules.ts";
import { type OrderView, orderView } from "./order-view.ts";
import { solanaRules } from "./solana-rules.ts";
import type { ChainPolicy, SwapPolicy } from "./swap-policy.ts";

/** The facts, and what follows from them and the clocks alone. */
export type SwapView = OrderView & {
	originRules: ChainRules;
	isPending: boolean;
	/** True if a signed transaction may still fill the order. */
	isFillOut: boolean;
	/** True if the order cannot be opened in any future block. */
	isOpenExpired: boolean;
	/** True if the order cannot be filled in any future block. */
	isFillExpired: boolean;
};

const rulesOf: Record<ChainPolicy["kind"], ChainRules> = { evm: evmRules, solana: solanaRules };

export function swapView(facts: Facts, policy: SwapPolicy, nowMs: Milliseconds): SwapView {
	const view = orderView(facts, policy, nowMs);
	const originRules = rulesOf[policy.origin.kind];
	const isFillExpired = view.destination.finalizedTimestamp >= view.fillDeadline;
	const { fill } = facts.jobs;
	return {
		...view,
		originRules,
		isPending: facts.swap.status === "pending",
		isFillOut: !isFillExpired && (fill?.state === "sent" || fill?.state === "done"),
		isOpenExpired: originRules.isOpenExpired(view),
		isFillExpired,
	};
}

/**
 * Returns the time in Unix seconds from which on no fill is signed. If the chain drops the fill, there must be time to
 * notice that and to fill again.
 */
export function lastFillAt({ fillDeadline, policy }: SwapView): number {
	return fillDeadline - policy.destination.finalitySeconds;
}

export function isTooLateToFill(view: SwapView): boolean {
	return Math.max(view.destination.timestamp, view.nowMs / 1_000) >= lastFillAt(view);
}

/** Returns whether the head is too old for a healthy chain and follower. Deposits that it still shows may be gone. */
export function isStale({ policy, origin, nowMs }: SwapView, head: ChainHead): boolean {
	const { finalitySeconds } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return nowMs / 1_000 - head.timestamp > Math.max(60, finalitySeconds / 10);
}
