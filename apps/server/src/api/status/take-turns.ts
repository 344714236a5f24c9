import { SwapError } from "@geoswap/protocol";

/** Runs someone's work, so many pieces at once, and of each one by one. */
export type Turns = <T>(who: string, work: () => Promise<T>) => Promise<T>;

/** The others wait in the order in which they came, and are refused with UPSTREAM_UNAVAILABLE where that takes too long. */
export function createTurns({
	atOnce,
	waitMs,
	upstream,
}: {
	atOnce: number;
	waitMs: number;
	/** What they wait for. */
	upstream: string;
}): Turns {
	const running = new Set<string>();
	const waiting = new Set<{ who: string; begin: () => void }>();

	/** Resolves once it is this one's turn. */
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

	/** Whoever asks for much at once holds up itself, and nobody else. */
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
