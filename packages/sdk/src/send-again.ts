import { GeoswapError } from "./geoswap-error.ts";
import { sleep } from "./sleep.ts";

/** Before anything is signed nobody has to wait for a service that is away. */
const usualPatienceMs = 60_000;

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** Whatever the answer asks for: whoever waits for a swap should not sleep through its end. */
export const longestPauseMs = 60_000;

/**
 * Sends the same request again while the service says that this may help and patience lasts. Only for requests that
 * are safe to repeat.
 */
export async function sendAgain<Answer>(
	send: () => Promise<Answer>,
	{
		patienceMs = usualPatienceMs,
		onRetry,
		signal,
	}: {
		patienceMs?: number;
		/** Why it is sent again. */
		onRetry?: (error: GeoswapError) => void;
		signal?: AbortSignal | undefined;
	},
): Promise<Answer> {
	const startedMs = performance.now();
	for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, longestDelayMs)) {
		try {
			return await send();
		} catch (error) {
			if (!(error instanceof GeoswapError) || error.next !== "retry") throw error;
			// Never sooner than by our own measure: an answer that asks for no pause must not become a busy loop.
			const pauseMs = Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, longestPauseMs));
			if (performance.now() - startedMs + pauseMs > patienceMs) throw error;
			onRetry?.(error);
			await sleep(pauseMs, signal);
		}
	}
}
