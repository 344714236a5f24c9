import { addressOfWord, type Milliseconds, toSwapId } from "@geoswap/protocol";
import type { Decision } from "../swap/decide/decision.ts";
import type { Log } from "../telemetry/log.ts";
import type { SwapMetrics } from "../telemetry/swap-metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import type { Applied } from "./write-plans.ts";

/** Receivers of news about swaps. Either may be absent. */
export type SwapObserver = { tracer?: Tracer | undefined; metrics?: SwapMetrics | undefined };

/**
 * Reports a fact that was applied, once it is committed. A process that dies between the commit and this call leaves a
 * gap. Never throws, because the decision is already committed.
 */
export function recordDecisions({ log, ...observer }: SwapObserver & { log: Log }, told: Told): void {
	try {
		tell(observer, told);
	} catch (err) {
		log.warn(
			{ swapId: told.applied.swap.id, fact: told.applied.decision.fact, err },
			"a fact could not be recorded in telemetry",
		);
	}
}

type Told = { applied: Applied; startMs: Milliseconds; nowMs: Milliseconds };

function tell(
	{ tracer, metrics }: SwapObserver,
	{ applied: { swap, decision, isNews, moves, heldBy }, startMs, nowMs }: Told,
): void {
	const { fact, actions } = decision;
	for (const to of moves) {
		metrics?.moved(swap.order, to);
		if (!isDecided(to)) continue;
		metrics?.decided(swap.order, { status: to, seconds: (nowMs - swap.createdAt.getTime()) / 1_000 });
		if (to === "settled") metrics?.paidOut(payoutOf(swap));
	}
	const givingUp = actions.find((action) => action.do === "give-up");
	if (givingUp && !swap.givingUp) metrics?.givenUp(swap.order, givingUp.code);
	if (!isNews && moves.length === 0) return;
	tracer?.record(heldBy ?? fact, {
		parent: swap.trace,
		startMs,
		attributes: {
			swapId: toSwapId(swap.id),
			originChainId: String(swap.order.originChainId),
			destinationChainId: String(swap.order.destinationChainId),
			fact,
			...(heldBy && { heldBy }),
			...(actions.length > 0 && { actions: actions.map(nameOf).join(", ") }),
			...(moves.length > 0 && { moved: moves.join(", ") }),
		},
	});
}

function isDecided(to: Applied["moves"][number]): boolean {
	return to === "settled" || to === "failed" || to === "refunded";
}

/** Returns what left the vault. Outputs that are bought are paid for with the settlement token. */
function payoutOf({ order: { destinationChainId, outputToken }, delivery }: Applied["swap"]) {
	return delivery.kind === "router"
		? { chainId: destinationChainId, token: "settlement", amount: delivery.budget }
		: {
				chainId: destinationChainId,
				token: addressOfWord(destinationChainId, outputToken),
				amount: delivery.amount,
			};
}

function nameOf(action: Decision["actions"][number]): string {
	return "kind" in action ? `${action.do} ${action.kind}` : action.do;
}
