import type { OrderEvent } from "../facts/facts.ts";
import { advance, note, noteHashes } from "./actions.ts";
import type { Action, Decision } from "./decision.ts";
import { isDeep, isFinal, untilDeep } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import type { SwapView } from "./swap-view.ts";
import { untilFinalEvent } from "./until.ts";

/** Decides once the wallet has its input back, or a credit for it. */
export function afterRefund(view: SwapView, refunded: OrderEvent<"Refunded">): Decision {
	const { swap, origin, jobs, isPending } = view;
	const actions: Action[] = noteHashes(view);
	if (!swap.givingUp) actions.push({ do: "give-up", code: "TOO_LATE" });
	if (jobs.fill?.state === "queued") actions.push({ do: "withdraw", kind: "fill" });
	if (view.isReserved) actions.push({ do: "unreserve" });
	if (isPending) advance(view, actions, "refunding");
	// A credit is not in the wallet until the wallet claims it. The follower marks the swaps that a claim may have paid.
	const payment = refunded.data.paid ? refunded : view.claimed;
	if (!payment) {
		// No caller waits for a swap without an account, and strangers can have any number of these. It ends as it is, and
		// begins again if an account adopts it.
		const isEnd = swap.accountId === undefined && isFinal(refunded, origin);
		return makeDecision(view, "refund-credited", { actions, isEnd, ...untilFinalEvent(refunded, origin) });
	}
	const isEnd = isFinal(payment, origin);
	// On one chain, the void that allowed the refund could be dropped together with it.
	if (isPending && (isEnd || (view.isCrossChain && isDeep(view, payment, origin)))) {
		note(actions, swap, { refundTxHash: payment.transactionHash });
		advance(view, actions, "refunded");
	}
	const fact = isEnd ? "refund-final" : "refunded";
	return makeDecision(view, fact, { actions, isEnd, ...untilDeep(view, payment, origin) });
}
