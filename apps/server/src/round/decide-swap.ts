import { decide } from "../swap/decide/decide.ts";
import type { Action, Decision, Hold } from "../swap/decide/decision.ts";
import { type PolicyConfig, swapPolicy } from "../swap/decide/swap-policy.ts";
import type { Look, LookedAt, WaitBefore } from "./load-swap-facts.ts";

/** A swap, the facts about it, and the decision. */
export type Decided = LookedAt & { wait: WaitBefore; decision: Decision };

/** Time until the next round if one of the swap's chains is not followed yet, or not configured. */
const blindMs = 10_000;

/** Decides what to do about a swap. Throws if the swap's facts cannot be read. */
export function decideSwap(config: PolicyConfig, { wait, read }: Look, nowMs: number): Decided {
	const looked = read();
	const { facts } = looked;
	const policy = facts && swapPolicy(config, facts.swap.order);
	const decision = policy
		? decide(facts, policy, nowMs)
		: blind(facts ? "chain-unconfigured" : "chain-unfollowed");
	return { ...looked, wait, decision: afterPause(decision, facts) };
}

function blind(fact: "chain-unfollowed" | "chain-unconfigured"): Decision {
	return { fact, actions: [], wait: {}, timeoutMs: blindMs, pauseMs: 0, isEnd: false };
}

/** Removes actions whose job was refused too recently to be retried. The job's age shows how long ago that was. */
export function afterPause(decision: Decision, facts: Decided["facts"]): Decision {
	const { pauseMs, momentMs = Number.POSITIVE_INFINITY } = decision;
	if (pauseMs === 0) return decision;
	const leftOf = (action: Action) =>
		action.do === "queue" ? pauseMs - (facts?.jobs[action.kind]?.ageMs ?? pauseMs) : 0;
	const leftMs = Math.max(0, ...decision.actions.map(leftOf));
	if (leftMs === 0) return decision;
	const actions = decision.actions.filter((action) => leftOf(action) <= 0);
	return { ...decision, actions, momentMs: Math.min(momentMs, leftMs) };
}

/** A swap with the part of its decision that is carried out now, which is less than the whole if `heldBy` is set. */
export type Permitted = Decided & { whole: Decision; heldBy?: Hold };

/** Time until the next round of a held swap, since nothing wakes it when there is room again, or a price. */
const heldMs = 2_000;

export function permitAll(decided: Decided): Permitted {
	return { ...decided, whole: decided.decision };
}

/** Permits the part of a decision that does not start the delivery of the output. */
export function holdBack(decided: Decided, heldBy: Hold): Permitted {
	const { decision } = decided;
	const actions = decision.actions.flatMap((action): Action[] => {
		if (action.do === "reserve" || (action.do === "queue" && action.kind === "fill")) return [];
		if (action.do !== "advance") return [action];
		const path = action.path.filter((step) => step !== "delivering");
		return path.length > 0 ? [{ ...action, path }] : [];
	});
	return {
		...decided,
		decision: { ...decision, fact: heldBy, actions, timeoutMs: heldMs },
		whole: decision,
		heldBy,
	};
}
