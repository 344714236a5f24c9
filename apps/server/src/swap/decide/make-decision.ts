import type { Milliseconds } from "@geoswap/protocol";
import type { Decision, Fact } from "./decision.ts";
import type { SwapView } from "./swap-view.ts";

export function makeDecision(
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
	}: Partial<Decision> & { /** Times of the next round, if sooner. */ momentsMs?: Milliseconds[] },
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
