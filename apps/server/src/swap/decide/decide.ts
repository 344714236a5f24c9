import type { FailureCode, Milliseconds } from "@geoswap/protocol";
import type { Facts, OrderEvent } from "../facts/facts.ts";
import type { JobReason, RefusalReason } from "../facts/job.ts";
import { advance, note, noteHashes, queueOnce } from "./actions.ts";
import { depositToSee, needsAgreement, secondSightMs } from "./agreement.ts";
import type { Action, Decision, DepositThen, QueueAction } from "./decision.ts";
import { depthBlocks, isDeep, isDelivered, isDeposited, isFinal, untilDeep } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import { exposureCaps, type SwapPolicy } from "./swap-policy.ts";
import { isStale, isTooLateToFill, lastFillAt, type SwapView, swapView } from "./swap-view.ts";
import { untilFillExpired, untilFinalEvent, untilHeadIs } from "./until.ts";

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

/** Decides once the recipient has the output. */
function afterFill(view: SwapView, filled: OrderEvent<"Filled">): Decision {
	const { swap, jobs, origin, destination, isPending } = view;
	const { Opened, Released, Refunded } = view.events;
	const isFillFinal = isFinal(filled, destination);
	const actions: Action[] = noteHashes(view);
	if (isPending && Opened && swap.stage !== "refunding") advance(view, actions, "delivering");
	if (isPending && isDelivered(view, filled)) advance(view, actions, "settled");
	if (jobs.void?.state === "queued") actions.push({ do: "withdraw", kind: "void" });
	if (!Opened) actions.push(...view.originRules.openAgain(view));
	if (!isFillFinal) {
		return makeDecision(view, "delivered", { actions, ...untilDeep(view, filled, destination) });
	}
	// The inventory stayed reserved until now, so that the output could be delivered again.
	if (view.isReserved) actions.push({ do: "unreserve" });
	if (!view.isCrossChain) return makeDecision(view, "delivery-final", { actions, isEnd: true });

	const decided = Released ?? Refunded;
	if (decided) {
		const fact = Released ? "released" : "delivered-and-refunded";
		const isEnd = isFinal(decided, origin);
		return makeDecision(view, fact, { actions, isEnd, ...untilFinalEvent(decided, origin) });
	}
	if (!Opened) {
		const wait = view.originRules.untilOpenExpired(view);
		const momentsMs = [view.openDeadline * 1_000];
		return makeDecision(view, "delivered-unopened", {
			actions,
			isEnd: view.isOpenExpired,
			...wait,
			momentsMs,
		});
	}
	const queued = queueOnce(view, jobs.release, {
		do: "queue",
		kind: "release",
		attested: true,
		again: false,
	});
	actions.push(...queued.actions);
	return makeDecision(view, "delivery-final", { actions, pauseMs: queued.pauseMs });
}

/** Decides once the wallet has its input back, or a credit for it. */
function afterRefund(view: SwapView, refunded: OrderEvent<"Refunded">): Decision {
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

/** Decides while no deposit is on the chain, because it was not made yet, or the chain dropped it. */
function beforeDeposit(view: SwapView): Decision {
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

const failureOfReason: Record<JobReason, FailureCode> = {
	expired: "TOO_LATE",
	too_late: "TOO_LATE",
	price: "PRICE_MOVED",
	liquidity: "NO_LIQUIDITY",
	recipient: "RECIPIENT_REFUSED",
	account_gone: "RECIPIENT_REFUSED",
	denied: "DENIED",
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

function reasonToGiveUp(view: SwapView): FailureCode | undefined {
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
function closeOrder(view: SwapView, code: FailureCode): Decision {
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

/** Milliseconds until the next round of a swap that waits for attesters, because a new heartbeat wakes no swap. */
const heartbeatMs = 2_000;

/** Decides while the deposit is there and the output is to be delivered. */
function deliver(view: SwapView): Decision {
	const { swap, jobs, origin, isPending } = view;
	const { Opened } = view.events;
	const actions: Action[] = noteHashes(view);
	const momentsMs = [lastFillAt(view) * 1_000];
	if (isPending && swap.stage === "opening") advance(view, actions, "deposited");
	if (!isPending && !Opened) actions.push(...view.originRules.openAgain(view));

	const unseen = isPending && Opened ? depositToSee(view, Opened) : {};
	const isFilling = jobs.fill && jobs.fill.state !== "refused";
	// The chain dropped the deposit for which the fill was queued, and has it again in another place.
	const isUnseen = needsAgreement(view) && !view.crossCheck;
	const isMoved = isPending && Opened && (!isDeep(view, Opened, origin) || isUnseen);
	if (isMoved && jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return makeDecision(view, "deposit-moved", { actions, timeoutMs: 0 });
	}
	if (isFilling) {
		if (isPending) advance(view, actions, "delivering");
		return makeDecision(view, "delivering", {
			actions,
			...untilFillExpired(view),
			momentsMs,
		});
	}
	if (isPending && !view.isReserved) {
		actions.push({ do: "reserve" });
		return makeDecision(view, "inventory-not-reserved", { actions, timeoutMs: 0 });
	}
	if (isPending && Opened && !isDeposited(view, Opened)) {
		return makeDecision(view, "deposited", { actions, ...untilDeep(view, Opened, origin), momentsMs });
	}
	if (unseen.depositToSee) {
		return makeDecision(view, "deposit-unseen", { actions, ...unseen, timeoutMs: secondSightMs, momentsMs });
	}
	for (const [head, fact] of [
		[origin, "origin-stale"],
		[view.destination, "destination-stale"],
	] as const) {
		if (!isPending || !isStale(view, head)) continue;
		const wait = { head: { chainId: head.chainId, number: head.number + 1 } };
		return makeDecision(view, fact, { actions, wait, momentsMs });
	}
	if (isPending && view.isCrossChain && view.attestersAlive < view.policy.attesterThreshold) {
		return makeDecision(view, "attesters-silent", { actions, timeoutMs: heartbeatMs, momentsMs });
	}
	if (isPending) advance(view, actions, "delivering");
	const { delivery } = swap;
	// The output of a settled swap is owed, regardless of how much is at risk.
	const caps = isPending && view.isCrossChain ? { caps: exposureCaps(view.policy) } : {};
	const { agreeAboveUsd } = view.policy.origin;
	const agreement = isPending && agreeAboveUsd !== undefined ? { agreeAboveUsd } : {};
	const fill: QueueAction = {
		do: "queue",
		kind: "fill",
		delivery,
		...caps,
		...agreement,
		again: false,
		...(isPending && Opened && { deposit: depositThen(view, Opened) }),
	};
	const queued = queueOnce(view, jobs.fill, fill);
	actions.push(...queued.actions);
	return makeDecision(view, "delivering", { actions, pauseMs: queued.pauseMs, momentsMs });
}

/** Returns the deposit's depth, kept with the decision so that an audit can check whether it was deep enough. */
function depositThen(view: SwapView, { blockNumber }: OrderEvent): DepositThen {
	const { number: headNumber, finalizedNumber } = view.origin;
	const blocksNeeded = depthBlocks(view, view.origin) ?? null;
	return { blockNumber, headNumber, finalizedNumber, blocksNeeded };
}
