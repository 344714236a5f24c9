import { advance, note } from "./actions.ts";
import type { Action, Decision } from "./decision.ts";
import { makeDecision } from "./make-decision.ts";
import type { SwapView } from "./swap-view.ts";

/** Decides while no deposit is on the chain, because it was not made yet, or the chain dropped it. */
export function beforeDeposit(view: SwapView): Decision {
	const { swap, isPending, isFillOut, jobs } = view;
	const actions: Action[] = [];
	if (isPending) note(actions, swap, { originTxHash: null, deliveryTxHash: null, deliveredAmount: null });
	if (isPending && !isFillOut) advance(view, actions, "opening");
	if (isPending && jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return makeDecision(view, "deposit-dropped", { actions, timeoutMs: 0 });
	}
	if (view.isOpenExpired && !isFillOut) {
		if (view.isReserved) actions.push({ do: "unreserve" });
		if (isPending) advance(view, actions, "failed");
		return makeDecision(view, "not-opened", { actions, isEnd: true });
	}
	const lapsesAtMs = swap.createdAt.getTime() + view.policy.reservationSeconds * 1_000;
	const isLapsed = view.nowMs >= lapsesAtMs || jobs.open?.state === "refused";
	if (view.isReserved && isLapsed && isPending && !isFillOut) actions.push({ do: "unreserve" });
	actions.push(...view.originRules.openAgain(view));
	return makeDecision(view, "opening", {
		actions,
		...view.originRules.untilOpenExpired(view),
		momentsMs: [lapsesAtMs, view.openDeadline * 1_000],
	});
}
