import { setTimeout as sleep } from "node:timers/promises";
import { GeoswapError, waitForSwap } from "@geoswap/sdk";
import { type SignedSwap, type SwapCaller, signSwap, submitSigned, swapIntent } from "./do-swap.ts";
import type { EndedPlan, PlannedSwap } from "./mixed-swaps.ts";

const pauseMs = 500;
/** No outage here lasts so long: what is refused until then is refused for another reason. */
const patienceMs = 90_000;

/** A whole swap through any outage, as an agent does it that wants it done. */
export async function swapThrough(caller: SwapCaller, plan: PlannedSwap): Promise<EndedPlan> {
	const { client, account } = caller;
	const { from, to, recipient } = plan;
	const intent = swapIntent({ from, to, recipient, account });
	for (const deadline = performance.now() + patienceMs; ; await sleep(pauseMs)) {
		let signed: SignedSwap;
		try {
			signed = await signSwap(caller, intent);
		} catch (error) {
			// Nothing is submitted yet: whoever gets no answer begins again.
			if (!isAskedAgain(error) && !isToRequote(error)) throw error;
			if (performance.now() > deadline) throw error;
			continue;
		}
		try {
			const { swapId } = await submitSigned(caller, signed);
			return { ...plan, account, signed, swap: await waitForSwap(client, swapId) };
		} catch (error) {
			// The service says that nothing was executed. Without its word, a new quote could be a second swap.
			if (!isToRequote(error) || performance.now() > deadline) throw error;
		}
	}
}

function isAskedAgain(error: unknown): boolean {
	if (!(error instanceof GeoswapError)) return false;
	// An API that has just started has no prices yet.
	const isPaused = error.code === "NO_ROUTE" && error.details?.reason === "paused";
	return isPaused || error.next === "retry";
}

function isToRequote(error: unknown): boolean {
	return error instanceof GeoswapError && error.next === "requote";
}
