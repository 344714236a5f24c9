import type { Milliseconds } from "@geoswap/protocol";
import type { Facts } from "../facts/facts.ts";
import { afterFill } from "./after-fill.ts";
import { afterRefund } from "./after-refund.ts";
import { beforeDeposit } from "./before-deposit.ts";
import { closeOrder, reasonToGiveUp } from "./close-order.ts";
import type { Decision } from "./decision.ts";
import { deliver } from "./deliver.ts";
import { isFinal } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import type { SwapPolicy } from "./swap-policy.ts";
import { swapView } from "./swap-view.ts";
import { untilFinalEvent } from "./until.ts";

/** Decides what to do about a swap, from the facts alone. */
export function decide(facts: Facts, policy: SwapPolicy, nowMs: Milliseconds): Decision {
	const view = swapView(facts, policy, nowMs);
	const { Filled, Refunded, Released, Opened } = facts.events;
	// A follower that is catching up has not yet read all final blocks.
	const behind = [facts.origin, facts.destination].find((head) => head.finalizedNumber > head.number);
	if (behind) {
		const { chainId, finalizedNumber: number } = behind;
		return makeDecision(view, "chain-behind", { wait: { head: { chainId, number } } });
	}
	if (Filled) {
		const isAtRisk = view.isCrossChain && !Released && !Refunded;
		return { ...afterFill(view, Filled), ...(isAtRisk && { isAtRisk }) };
	}
	if (Refunded) return afterRefund(view, Refunded);
	// Only a chain that drops final blocks leads here. The vault can no longer fill the order, and has the input.
	if (Released && view.isFillExpired) {
		const isEnd = isFinal(Released, view.origin);
		return makeDecision(view, "released-undelivered", { isEnd, ...untilFinalEvent(Released, view.origin) });
	}
	// A swap that was reported as settled is delivered again, with or without its deposit.
	const isOwed = facts.swap.status === "settled" && view.isCrossChain;
	if (!Opened && !isOwed) return beforeDeposit(view);
	const code = reasonToGiveUp(view);
	return code ? closeOrder(view, code) : deliver(view);
}
