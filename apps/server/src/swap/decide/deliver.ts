import type { OrderEvent } from "../facts/facts.ts";
import { advance, noteHashes, queueOnce } from "./actions.ts";
import { depositToSee, needsAgreement, secondSightMs } from "./agreement.ts";
import type { Action, Decision, DepositThen, QueueAction } from "./decision.ts";
import { depthBlocks, isDeep, isDeposited, untilDeep } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import { exposureCaps } from "./swap-policy.ts";
import { isStale, lastFillAt, type SwapView } from "./swap-view.ts";
import { untilFillExpired } from "./until.ts";

/** Milliseconds until the next round of a swap that waits for attesters, because a new heartbeat wakes no swap. */
const heartbeatMs = 2_000;

/** Decides while the deposit is there and the output is to be delivered. */
export function deliver(view: SwapView): Decision {
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
