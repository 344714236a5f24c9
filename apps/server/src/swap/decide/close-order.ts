import type { FailureCode } from "@geoswap/protocol";
import type { JobReason, RefusalReason } from "../facts/job.ts";
import { advance, noteHashes, queueOnce } from "./actions.ts";
import type { Action, Decision, QueueAction } from "./decision.ts";
import { isFinal } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import { isTooLateToFill, type SwapView } from "./swap-view.ts";
import { untilFillExpired, untilFinalEvent, untilHeadIs } from "./until.ts";

const failureOfReason: Record<JobReason, FailureCode> = {
	expired: "TOO_LATE",
	too_late: "TOO_LATE",
	price: "PRICE_MOVED",
	liquidity: "NO_LIQUIDITY",
	recipient: "RECIPIENT_REFUSED",
	account_gone: "RECIPIENT_REFUSED",
	reverted: "RECIPIENT_REFUSED",
};

/**
 * Reasons that only a recipient can cause. A fill can also be `reverted` through no fault of the caller, because a
 * token that its issuer has paused refuses every recipient.
 */
const refusalOfReason: Partial<Record<JobReason, RefusalReason>> = {
	recipient: "recipient_refused",
	account_gone: "recipient_account_gone",
};

export function reasonToGiveUp(view: SwapView): FailureCode | undefined {
	const { swap, jobs } = view;
	if (swap.givingUp) return swap.givingUp;
	// Without an op, no caller has requested the delivery.
	if (!swap.op) return "TOO_LATE";
	if (view.isPending && jobs.fill?.state === "refused") {
		return failureOfReason[jobs.fill.reason ?? "reverted"];
	}
	return isTooLateToFill(view) && !view.isFillOut ? "TOO_LATE" : undefined;
}

/** Decides once the output will not be delivered: closes the order on the destination, then refunds on the origin. */
export function closeOrder(view: SwapView, code: FailureCode): Decision {
	const { swap, jobs, destination, isPending, originRules } = view;
	const { Opened, Voided } = view.events;
	const actions: Action[] = noteHashes(view);
	const refusal = jobs.fill?.state === "refused" && jobs.fill.reason && refusalOfReason[jobs.fill.reason];
	if (!swap.givingUp) actions.push({ do: "give-up", code, ...(refusal && { refusal }) });
	if (isPending) advance(view, actions, "refunding");
	if (jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return makeDecision(view, "fill-withdrawn", { actions, timeoutMs: 0 });
	}
	if (view.isReserved && !view.isFillOut) actions.push({ do: "unreserve" });

	if (view.isFillExpired || (Voided && isFinal(Voided, destination))) {
		if (Opened) return refund(view, actions);
		const isEnd = view.isOpenExpired;
		const momentsMs = [view.openDeadline * 1_000];
		return makeDecision(view, "closed-unopened", {
			actions,
			isEnd,
			...view.originRules.untilOpenExpired(view),
			momentsMs,
		});
	}
	if (Voided) return makeDecision(view, "voided", { actions, ...untilFinalEvent(Voided, destination) });

	const wait = untilFillExpired(view);
	const momentsMs = [view.fillDeadline * 1_000];
	if (view.isFillOut) return makeDecision(view, "fill-undecided", { actions, ...wait, momentsMs });
	if (originRules.refundCloses && !view.isCrossChain) return refund(view, actions);
	// An order closes by itself at its fill deadline, so one that was not submitted is not worth a void.
	if (!swap.op || destination.timestamp >= view.fillDeadline) {
		return makeDecision(view, "expiring", { actions, ...wait, momentsMs });
	}
	const queued = queueOnce(view, jobs.void, { do: "queue", kind: "void", again: false });
	actions.push(...queued.actions);
	return makeDecision(view, "voiding", { actions, pauseMs: queued.pauseMs, ...wait, momentsMs });
}

function refund(view: SwapView, actions: Action[]): Decision {
	const { jobs, origin, refundAfter } = view;
	// Attesters may be gone permanently; from `refundAfter` on a refund does not need them.
	const attested = view.isCrossChain && origin.timestamp < refundAfter;
	const action: QueueAction = { do: "queue", kind: "refund", attested, again: false };
	const queued = queueOnce(view, jobs.refund, action);
	actions.push(...queued.actions);
	const momentsMs = [refundAfter * 1_000];
	const wait = untilHeadIs(view, origin, refundAfter);
	return makeDecision(view, "refunding", { actions, pauseMs: queued.pauseMs, ...wait, momentsMs });
}
