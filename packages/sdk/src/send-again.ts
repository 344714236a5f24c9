import { GeoswapError } from "./geoswap-error.ts";
import { sleep } from "./sleep.ts";

/** Default time limit of retries. Before a signature, no caller has to wait for a service that is down. */
const usualPatienceMs = 60_000;

const firstDelayMs = 500;
const maxDelayMs = 10_000;
/** Limit on the pause that a response requests. A caller that waits for a swap should not sleep through its end. */
export const maxPauseMs = 60_000;

/**
 * Repeats the same request while the service reports that this may help and the time limit lasts. Only for requests
 * that are safe to repeat.
 */
export async function sendAgain<Answer>(
	send: () => Promise<Answer>,
	{
		patienceMs = usualPatienceMs,
		onRetry,
		random = Math.random,
		signal,
	}: {
		patienceMs?: number;
		/** Called before each retry, with the reason for it. */
		onRetry?: (error: GeoswapError) => void;
		random?: () => number;
		signal?: AbortSignal | undefined;
	},
): Promise<Answer> {
	const startedMs = performance.now();
	for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
		try {
			return await send();
		} catch (error) {
			if (!(error instanceof GeoswapError) || error.next !== "retry") throw error;
			// The pause is never shorter than `delayMs`, because a response that requests no pause must not cause a busy
			// loop. Up to half of `delayMs` is added at random, so that callers that one outage stopped do not all return
			// together.
			const askedMs = Math.min(error.retryAfterMs ?? 0, maxPauseMs);
			const pauseMs = Math.max(delayMs, askedMs) + (random() * delayMs) / 2;
			if (performance.now() - startedMs + pauseMs > patienceMs) throw error;
			onRetry?.(error);
			await sleep(pauseMs, signal);
		}
	}
}
