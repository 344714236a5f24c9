import type { OrderEvent } from "../facts/facts.ts";
import { advance, noteHashes, queueOnce } from "./actions.ts";
import type { Action, Decision } from "./decision.ts";
import { isDelivered, isFinal, untilDeep } from "./depth.ts";
import { makeDecision } from "./make-decision.ts";
import type { SwapView } from "./swap-view.ts";
import { untilFinalEvent } from "./until.ts";

/** Decides once the recipient has the output. */
export function afterFill(view: SwapView, filled: OrderEvent<"Filled">): Decision {
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
