import { decide } from "../swap/decide/decide.ts";
import type { Decision } from "../swap/decide/decision.ts";
import { type PolicyConfig, swapPolicy } from "../swap/decide/swap-policy.ts";
import type { Look } from "./load-swap-facts.ts";
import { type Plan, planChanges } from "./plan-changes.ts";

/** Time until the next round if one of the swap's chains is not followed yet, or not configured. */
const blindMs = 10_000;

/** Decides what to do about a swap, and returns what to write for it. Throws if the swap's facts cannot be read. */
export function planSwap(config: PolicyConfig, { wait, read }: Look, nowMs: number): Plan {
	const looked = read();
	const { facts } = looked;
	const policy = facts && swapPolicy(config, facts.swap.order);
	const decision = policy
		? decide(facts, policy, nowMs)
		: blind(facts ? "chain-unconfigured" : "chain-unfollowed");
	return planChanges({ ...looked, wait, decision });
}

function blind(fact: "chain-unfollowed" | "chain-unconfigured"): Decision {
	return { fact, actions: [], wait: {}, timeoutMs: blindMs, pauseMs: 0, isEnd: false };
}
