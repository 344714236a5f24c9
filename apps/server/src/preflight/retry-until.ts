import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";

const pauseMs = 500;

/**
 * Returns the first answer, or undefined if there is none by the deadline, which is a time of `performance.now()`.
 */
export async function retryUntil<T>(ask: () => Promise<T>, deadlineMs: Milliseconds): Promise<T | undefined> {
	for (;;) {
		try {
			return await ask();
		} catch {
			if (performance.now() + pauseMs > deadlineMs) return undefined;
			await sleep(pauseMs);
		}
	}
}
