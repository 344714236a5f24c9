import { GeoswapError } from "./geoswap-error.ts";
import { sleep } from "./sleep.ts";

/** Default time limit of retries. Before anything is signed, nobody has to wait for a service that is down. */
const usualPatienceMs = 60_000;

const firstDelayMs = 500;
const maxDelayMs = 10_000;
/** Limit on the pause an answer asks for: a caller that waits for a swap should not sleep through its end. */
export const maxPauseMs = 60_000;

/**
 * Sends the same request again while the service says that this may help and patience lasts. Only for requests that
 * are safe to repeat.
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
			// The pause is never shorter than our own: an answer that asks for no pause must not cause a busy loop. Up to half
			// of our own is random, so that callers whom one outage stopped do not all return at once.
			const askedMs = Math.min(error.retryAfterMs ?? 0, maxPauseMs);
			const pauseMs = Math.max(delayMs, askedMs) + (random() * delayMs) / 2;
			if (performance.now() - startedMs + pauseMs > patienceMs) throw error;
			onRetry?.(error);
			await sleep(pauseMs, signal);
		}
	}
}
