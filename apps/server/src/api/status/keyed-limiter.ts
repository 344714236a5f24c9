import { type Milliseconds, SwapError } from "@geoswap/protocol";

/** Runs a limited number of pieces of work concurrently, and one at a time for each `who`. */
export type Turns = <T>(who: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates turns. Further work waits in order of arrival, and is refused with UPSTREAM_UNAVAILABLE if that takes too
 * long.
 */
export function createKeyedLimiter({
	atOnce,
	waitMs,
	upstream,
}: {
	atOnce: number;
	waitMs: Milliseconds;
	/** The upstream that the work waits for. */
	upstream: string;
}): Turns {
	const running = new Set<string>();
	const waiting = new Set<{ who: string; begin: () => void }>();

	/** Resolves once it is this caller's turn. */
	async function turn(who: string): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const one = { who, begin: resolve };
		waiting.add(one);
		beginNext();
		const timer = setTimeout(() => {
			waiting.delete(one);
			reject(new SwapError("UPSTREAM_UNAVAILABLE", { upstream }));
		}, waitMs);
		await promise.finally(() => clearTimeout(timer));
	}

	/** Starts waiting work. A caller with many concurrent requests delays only itself. */
	function beginNext(): void {
		for (const one of waiting) {
			if (running.size >= atOnce) return;
			if (running.has(one.who)) continue;
			waiting.delete(one);
			running.add(one.who);
			one.begin();
		}
	}

	return async (who, work) => {
		await turn(who);
		try {
			return await work();
		} finally {
			running.delete(who);
			beginNext();
		}
	};
}
