import { type Milliseconds, unpackDeadlines } from "@geoswap/protocol";
import type { Facts } from "../facts/facts.ts";
import type { SwapPolicy } from "./swap-policy.ts";

/** The facts, the deadlines of the order in Unix seconds, and the time. */
export type OrderView = Facts & {
	policy: SwapPolicy;
	nowMs: Milliseconds;
	isCrossChain: boolean;
	openDeadline: number;
	fillDeadline: number;
	refundAfter: number;
};

export function orderView(facts: Facts, policy: SwapPolicy, nowMs: Milliseconds): OrderView {
	const { order } = facts.swap;
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	return {
		...facts,
		policy,
		nowMs,
		isCrossChain: order.originChainId !== order.destinationChainId,
		openDeadline: Number(openDeadline),
		fillDeadline: Number(fillDeadline),
		refundAfter: Number(refundAfter),
	};
}
