import { canMove, type FailureCode, type Milliseconds, type SwapStage } from "@geoswap/protocol";
import type { ChainHead, FactJob, Facts, OrderEvent } from "../facts/facts.ts";
import type { JobReason } from "../facts/job.ts";
import type { StrikeReason } from "../facts/strike-reason.ts";
import type { Move, Notes } from "../facts/swap-notes.ts";
import type { WaitFor } from "../facts/wait-for.ts";
import type { Action, Decision, DepositThen, Fact, QueueAction } from "./decision.ts";
import type { KnownFacts } from "./order-view.ts";
import { exposureCaps, type SwapPolicy } from "./swap-policy.ts";
import {
	depthBlocks,
	isAgreed,
	isDeep,
	isDelivered,
	isDeposited,
	isFinal,
	isStale,
	isTooLateToFill,
	lastFillAt,
	needsAgreement,
	type SwapView,
	sightToAskFor,
	swapView,
} from "./swap-view.ts";
import { untilFinalEvent, untilHeadIs } from "./until.ts";

/** Milliseconds until the next look at a swap that waits for attesters: a new heartbeat wakes no swap. */
const heartbeatMs = 2_000;
/** The same for a second provider: no swap is woken when it has caught up. */
const secondSightMs = 2_000;
/** The same for a credit: a claim names no order, so it wakes no swap. */
const claimMs = 60_000;

/** Decides what to do about a swap, from the facts alone. */
export function decide(facts: KnownFacts, policy: SwapPolicy, nowMs: Milliseconds): Decision {
	const view = swapView(facts, policy, nowMs);
	const { Filled, Refunded, Released, Opened } = facts.events;
	// A follower that is catching up has not yet seen all final blocks.
	const behind = [facts.origin, facts.destination].find((head) => head.finalizedNumber > head.number);
	if (behind) {
		const { chainId, finalizedNumber: number } = behind;
		return decision(view, "chain-behind", { wait: { head: { chainId, number } } });
	}
	if (Filled) {
		const isAtRisk = view.isCrossChain && !Released && !Refunded;
		return { ...afterFill(view, Filled), ...(isAtRisk && { isAtRisk }) };
	}
	if (Refunded) return afterRefund(view, Refunded);
	// Only a chain that drops final blocks leads here: the vault can no longer fill the order, and the input is ours.
	if (Released && view.isFillExpired) {
		const isEnd = isFinal(Released, view.origin);
		return decision(view, "released-undelivered", { isEnd, ...untilFinalEvent(Released, view.origin) });
	}
	// A swap that was reported as settled is delivered again, with or without its deposit.
	const isOwed = facts.swap.status === "settled" && view.isCrossChain;
	if (!Opened && !isOwed) return beforeDeposit(view);
	const code = reasonToGiveUp(view);
	return code ? closeOrder(view, code) : deliver(view);
}

/** Decides while no deposit is on the chain: it was not made yet, or the chain dropped it. */
function beforeDeposit(view: SwapView): Decision {
	const { swap, isPending, isFillOut, jobs } = view;
	const actions: Action[] = [];
	if (isPending) note(actions, swap, { originTxHash: null, deliveryTxHash: null, deliveredAmount: null });
	if (isPending && !isFillOut) advance(view, actions, "opening");
	if (isPending && jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return decision(view, "deposit-dropped", { actions, timeoutMs: 0 });
	}
	if (view.isOpenExpired && !isFillOut) {
		if (view.isReserved) actions.push({ do: "unreserve" });
		if (isPending) advance(view, actions, "failed");
		return decision(view, "not-opened", { actions, isEnd: true });
	}
	const lapsesAtMs = swap.createdAt.getTime() + view.policy.reservationSeconds * 1_000;
	const isLapsed = view.nowMs >= lapsesAtMs || jobs.open?.state === "refused";
	if (view.isReserved && isLapsed && isPending && !isFillOut) actions.push({ do: "unreserve" });
	actions.push(...view.originRules.openAgain(view));
	return decision(view, "opening", {
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
	reverted: "RECIPIENT_REFUSED",
};

/**
 * Reasons that only a recipient can cause. A fill can also be `reverted` through no fault of the caller: a token that
 * its issuer has paused refuses everybody.
 */
const strikeOfReason: Partial<Record<JobReason, StrikeReason>> = {
	recipient: "recipient_refused",
	account_gone: "recipient_account_gone",
};

function reasonToGiveUp(view: SwapView): FailureCode | undefined {
	const { swap, jobs } = view;
	if (swap.givingUp) return swap.givingUp;
	// Without an op, nobody asked us to deliver the output.
	if (!swap.op) return "TOO_LATE";
	if (view.isPending && jobs.fill?.state === "refused") {
		return failureOfReason[jobs.fill.reason ?? "reverted"];
	}
	return isTooLateToFill(view) && !view.isFillOut ? "TOO_LATE" : undefined;
}

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
	const isUnseen = needsAgreement(view) && !view.sighting;
	const isMoved = isPending && Opened && (!isDeep(view, Opened, origin) || isUnseen);
	if (isMoved && jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return decision(view, "deposit-moved", { actions, timeoutMs: 0 });
	}
	if (isFilling) {
		if (isPending) advance(view, actions, "delivering");
		return decision(view, "delivering", {
			actions,
			...view.destinationRules.untilFillExpired(view),
			momentsMs,
		});
	}
	if (isPending && !view.isReserved) {
		actions.push({ do: "reserve" });
		return decision(view, "stock-not-reserved", { actions, timeoutMs: 0 });
	}
	if (isPending && Opened && !isDeposited(view, Opened)) {
		return decision(view, "deposited", { actions, ...untilDeep(view, Opened, origin), momentsMs });
	}
	if (unseen.depositToSee) {
		return decision(view, "deposit-unseen", { actions, ...unseen, timeoutMs: secondSightMs, momentsMs });
	}
	for (const [head, fact] of [
		[origin, "origin-stale"],
		[view.destination, "destination-stale"],
	] as const) {
		if (!isPending || !isStale(view, head)) continue;
		const wait = { head: { chainId: head.chainId, number: head.number + 1 } };
		return decision(view, fact, { actions, wait, momentsMs });
	}
	if (isPending && view.isCrossChain && view.attestersAlive < view.policy.attesterThreshold) {
		return decision(view, "attesters-silent", { actions, timeoutMs: heartbeatMs, momentsMs });
	}
	if (isPending) advance(view, actions, "delivering");
	const { delivery } = swap;
	// The output of a settled swap is owed, however much is at risk.
	const caps = isPending && view.isCrossChain ? { caps: exposureCaps(view.policy.origin) } : {};
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
	return decision(view, "delivering", { actions, pauseMs: queued.pauseMs, momentsMs });
}

/** Returns the deposit's depth, kept with the decision so that an audit can tell whether it was deep enough. */
function depositThen(view: SwapView, { blockNumber }: OrderEvent): DepositThen {
	const { number: headNumber, finalizedNumber } = view.origin;
	const blocksNeeded = depthBlocks(view, view.origin) ?? null;
	return { blockNumber, headNumber, finalizedNumber, blocksNeeded };
}

/** Decides once the output will not be delivered: closes the order on the destination, then refunds on the origin. */
function closeOrder(view: SwapView, code: FailureCode): Decision {
	const { swap, jobs, destination, isPending, destinationRules } = view;
	const { Opened, Voided } = view.events;
	const actions: Action[] = noteHashes(view);
	const strike = jobs.fill?.state === "refused" && jobs.fill.reason && strikeOfReason[jobs.fill.reason];
	if (!swap.givingUp) actions.push({ do: "give-up", code, ...(strike && { strike }) });
	if (isPending) advance(view, actions, "refunding");
	if (jobs.fill?.state === "queued") {
		actions.push({ do: "withdraw", kind: "fill" });
		return decision(view, "fill-withdrawn", { actions, timeoutMs: 0 });
	}
	if (view.isReserved && !view.isFillOut) actions.push({ do: "unreserve" });

	if (view.isFillExpired || (Voided && isFinal(Voided, destination))) {
		if (Opened) return refund(view, actions);
		const isEnd = view.isOpenExpired;
		const momentsMs = [view.openDeadline * 1_000];
		return decision(view, "closed-unopened", {
			actions,
			isEnd,
			...view.originRules.untilOpenExpired(view),
			momentsMs,
		});
	}
	if (Voided) return decision(view, "voided", { actions, ...untilFinalEvent(Voided, destination) });

	const wait = view.destinationRules.untilFillExpired(view);
	const momentsMs = [view.fillDeadline * 1_000];
	if (view.isFillOut) return decision(view, "fill-undecided", { actions, ...wait, momentsMs });
	if (destinationRules.refundCloses && !view.isCrossChain) return refund(view, actions);
	// An order that nobody submitted is not worth a void if it closes by itself.
	if (destinationRules.closesByTime && (!swap.op || destination.timestamp >= view.fillDeadline)) {
		return decision(view, "expiring", { actions, ...wait, momentsMs });
	}
	const queued = queueOnce(view, jobs.void, { do: "queue", kind: "void", again: false });
	actions.push(...queued.actions);
	return decision(view, "voiding", { actions, pauseMs: queued.pauseMs, ...wait, momentsMs });
}

function refund(view: SwapView, actions: Action[]): Decision {
	const { jobs, origin, refundAfter } = view;
	const unfinal = depositToWaitFor(view);
	if (unfinal) return decision(view, "deposit-not-final", { actions, ...untilFinalEvent(unfinal, origin) });
	const unseen =
		view.originRules.isCustodial && view.events.Opened ? depositToSee(view, view.events.Opened) : {};
	if (unseen.depositToSee && !isOneEnough(view)) {
		const momentsMs = [refundAfter * 1_000];
		const pace = { timeoutMs: secondSightMs, momentsMs, ...untilHeadIs(view, origin, refundAfter) };
		return decision(view, "deposit-unseen", { actions, ...unseen, ...pace });
	}
	// Attesters may be gone for good; from `refundAfter` on a refund does not need them.
	const isAttestable = view.isCrossChain && !view.originRules.isCustodial;
	const attested = isAttestable && origin.timestamp < refundAfter;
	const action: QueueAction = { do: "queue", kind: "refund", attested, again: false };
	const queued = queueOnce(view, jobs.refund, action);
	actions.push(...queued.actions);
	const momentsMs = [refundAfter * 1_000];
	const fact = unseen.depositToSee ? "refunding-unseen" : "refunding";
	const wait = untilHeadIs(view, origin, refundAfter);
	return decision(view, fact, { actions, pauseMs: queued.pauseMs, ...wait, momentsMs });
}

/**
 * Returns whether the first provider's word is enough: from `refundAfter` on, if the second was asked and does not
 * contradict it. A wallet does not wait forever for a silent provider.
 */
function isOneEnough({ origin, refundAfter, secondWord }: SwapView): boolean {
	return origin.timestamp >= refundAfter && (secondWord === "silent" || secondWord === "behind");
}

/** Returns the deposit to ask a second provider for, if its value requires that and it was not found there yet. */
function depositToSee(view: SwapView, opened: OrderEvent<"Opened">): Pick<Decision, "depositToSee"> {
	if (!needsAgreement(view) || isAgreed(view, opened)) return {};
	const { blockNumber, blockHash, transactionHash } = opened;
	const where = { chainId: view.origin.chainId, blockNumber, blockHash, transactionHash };
	return { depositToSee: { ...where, ...sightToAskFor(view, opened) } };
}

/** Returns the deposit if it must be final before its input is paid to anybody, and is not. */
function depositToWaitFor({ originRules, origin, events: { Opened } }: SwapView): OrderEvent | undefined {
	return originRules.isCustodial && Opened && !isFinal(Opened, origin) ? Opened : undefined;
}

/** Decides once the wallet has its input back, or a credit for it. */
function afterRefund(view: SwapView, refunded: OrderEvent<"Refunded">): Decision {
	const { swap, origin, jobs, isPending } = view;
	const actions: Action[] = noteHashes(view);
	if (!swap.givingUp) actions.push({ do: "give-up", code: "TOO_LATE" });
	if (jobs.fill?.state === "queued") actions.push({ do: "withdraw", kind: "fill" });
	if (view.isReserved) actions.push({ do: "unreserve" });
	if (isPending) advance(view, actions, "refunding");
	// A credit is not in the wallet until someone claims it.
	const payment = refunded.data.paid ? refunded : view.claimed;
	if (!payment) return decision(view, "refund-credited", { actions, timeoutMs: claimMs });
	// If no deadline of the order stops a signed fill, that fill must be dead before the swap ends.
	const mayBeFilled = !view.destinationRules.closesByTime && view.isFillOut;
	const isEnd = isFinal(payment, origin) && !mayBeFilled;
	// On one chain, the void that allowed the refund could be dropped together with it.
	if (isPending && (isEnd || (view.isCrossChain && isDeep(view, payment, origin)))) {
		note(actions, swap, { refundTxHash: payment.transactionHash });
		advance(view, actions, "refunded");
	}
	const fact = isEnd ? "refund-final" : "refunded";
	return decision(view, fact, { actions, isEnd, ...untilDeep(view, payment, origin) });
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
		return decision(view, "delivered", { actions, ...untilDeep(view, filled, destination) });
	}
	// The stock stayed reserved until now, so that the output could be delivered again.
	if (view.isReserved) actions.push({ do: "unreserve" });
	if (!view.isCrossChain) return decision(view, "delivery-final", { actions, isEnd: true });

	const decided = Released ?? Refunded;
	if (decided) {
		const fact = Released ? "released" : "delivered-and-refunded";
		const isEnd = isFinal(decided, origin);
		return decision(view, fact, { actions, isEnd, ...untilFinalEvent(decided, origin) });
	}
	if (!Opened) {
		const wait = view.originRules.untilOpenExpired(view);
		const momentsMs = [view.openDeadline * 1_000];
		return decision(view, "delivered-unopened", { actions, isEnd: view.isOpenExpired, ...wait, momentsMs });
	}
	const unfinal = depositToWaitFor(view);
	if (unfinal) return decision(view, "deposit-not-final", { actions, ...untilFinalEvent(unfinal, origin) });
	const attested = !view.originRules.isCustodial;
	const queued = queueOnce(view, jobs.release, { do: "queue", kind: "release", attested, again: false });
	actions.push(...queued.actions);
	return decision(view, "delivery-final", { actions, pauseMs: queued.pauseMs });
}

/** Returns the action for a job that must be done. A refused job is retried after a pause. */
function queueOnce(
	view: SwapView,
	job: FactJob | undefined,
	action: QueueAction,
): { actions: Action[]; pauseMs: Milliseconds } {
	if (!job) return { actions: [action], pauseMs: 0 };
	// The job waits for attesters that it no longer needs.
	if (job.state === "unattested" && "attested" in action && !action.attested) {
		return { actions: [{ ...action, again: true }], pauseMs: 0 };
	}
	const isOver = job.state === "refused" || job.state === "done";
	if (!isOver) return { actions: [], pauseMs: 0 };
	return { actions: [{ ...action, again: true }], pauseMs: slowMs(view) };
}

/** Notes the hashes of what is on the chains now. A settled delivery keeps its hash until it is made again. */
function noteHashes({ swap, isPending, events: { Opened, Filled } }: SwapView): Action[] {
	const actions: Action[] = [];
	if (Opened) note(actions, swap, { originTxHash: Opened.transactionHash });
	if (Filled) {
		note(actions, swap, { deliveryTxHash: Filled.transactionHash, deliveredAmount: Filled.data.delivered });
	} else if (isPending) {
		note(actions, swap, { deliveryTxHash: null, deliveredAmount: null });
	}
	return actions;
}

function note(actions: Action[], swap: Facts["swap"], notes: Notes): void {
	const isNews = Object.entries(notes).some(
		([field, value]) => (swap[field as keyof Notes] ?? null) !== value,
	);
	if (isNews) actions.push({ do: "note", notes });
}

const stageAfter: Partial<Record<Move, Move>> = { opening: "deposited", deposited: "delivering" };

/** Adds the steps from the swap's stage, or from the end of steps added before. All steps are one action. */
function advance({ swap }: SwapView, actions: Action[], to: Move): void {
	const before = actions.find((action) => action.do === "advance");
	const path = before?.path ?? [];
	for (let at: Move | undefined = path.at(-1) ?? swap.stage; at && at !== to; at = stageAfter[at]) {
		if (at !== (path.at(-1) ?? swap.stage)) path.push(at);
		if (!canMove(at as SwapStage, to)) continue;
		path.push(to);
		break;
	}
	if (!before && path.length > 0) actions.push({ do: "advance", path });
}

function untilDeep(view: SwapView, event: { blockNumber: number }, head: ChainHead): { wait: WaitFor } {
	const blocks = depthBlocks(view, head);
	const number = event.blockNumber + (blocks ?? 0);
	const { wait } = untilFinalEvent(event, head);
	const isAhead = blocks !== undefined && number > head.number;
	return { wait: isAhead ? { ...wait, head: { chainId: head.chainId, number } } : wait };
}

/** Returns how many milliseconds after its refusal a job is retried. */
function slowMs({ policy }: SwapView): number {
	const finalitySeconds = Math.max(policy.origin.finalitySeconds, policy.destination.finalitySeconds);
	return Math.min(60_000, Math.max(10_000, finalitySeconds * 1_000));
}

function decision(
	view: SwapView,
	fact: Fact,
	{
		actions = [],
		depositToSee,
		wait = {},
		momentsMs = [],
		timeoutMs,
		pauseMs = 0,
		isEnd = false,
	}: Partial<Decision> & { /** Times at which to look again, if sooner. */ momentsMs?: Milliseconds[] },
): Decision {
	const untilMoments = momentsMs.map((at) => Math.ceil(at - view.nowMs)).filter((ms) => ms > 0);
	return {
		fact,
		actions,
		...(depositToSee && { depositToSee }),
		wait,
		...(untilMoments.length > 0 && { momentMs: Math.min(...untilMoments) }),
		...(timeoutMs !== undefined && { timeoutMs }),
		pauseMs,
		isEnd,
	};
}
