import type { Milliseconds } from "@geoswap/protocol";

/**
 * The maximum pause between two reads. It is below the age at which prices are stale, so that a chain stays ready.
 */
const idleMs = 10_000;
/** A quote lives for 30 s, and its caller may then request another. */
const wantedForMs = 60_000;
/** The maximum time that a caller waits for a read. */
const maxWaitMs = 1_000;

/** Decides when a chain's prices are read: with each poll while requests need them, and rarely otherwise. */
export type PriceTurns = {
	/** Waits until the next read is due. */
	pause: () => Promise<void>;
	/** Must be called after each read, whether it succeeded or not. */
	noteRead: () => void;
	/**
	 * Marks prices as needed for a period. If they were not marked before, reads them immediately, and waits for that
	 * for a short time.
	 */
	want: () => Promise<void>;
};

export function createPriceTurns({
	pollMs,
	isAlwaysWanted = false,
	nowMs,
	signal,
}: {
	pollMs: Milliseconds;
	/** True if prices are read with each poll, regardless of requests. */
	isAlwaysWanted?: boolean;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
}): PriceTurns {
	let wantedAtMs = Number.NEGATIVE_INFINITY;
	let waking: PromiseWithResolvers<void> | undefined;
	let pausing: AbortController | undefined;
	const isWanted = () => isAlwaysWanted || nowMs() - wantedAtMs < wantedForMs;
	return {
		pause: async () => {
			if (waking) return;
			pausing = new AbortController();
			const either = AbortSignal.any([signal, pausing.signal]);
			const ms = isWanted() ? pollMs : Math.max(pollMs, idleMs);
			await wait(ms, either);
			pausing = undefined;
		},
		noteRead: () => {
			waking?.resolve();
			waking = undefined;
		},
		want: async () => {
			const wasWanted = isWanted();
			wantedAtMs = nowMs();
			if (!wasWanted && pollMs < idleMs) {
				waking ??= Promise.withResolvers();
				pausing?.abort();
			}
			if (!waking) return;
			const late = new AbortController();
			await Promise.race([waking.promise, wait(maxWaitMs, late.signal)]);
			late.abort();
		},
	};
}

/** Resolves after this time, or when the signal aborts. */
function wait(ms: Milliseconds, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve();
		const timer = setTimeout(end, ms);
		signal.addEventListener("abort", end, { once: true });
		function end(): void {
			clearTimeout(timer);
			resolve();
		}
	});
}
