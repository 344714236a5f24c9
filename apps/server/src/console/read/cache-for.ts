import type { Milliseconds } from "@geoswap/protocol";

/** Wraps a reading so that calls within some time share one result. A failed reading is not kept. */
export function cacheFor<T>(
	read: () => Promise<T>,
	{ maxAgeMs, nowMs }: { maxAgeMs: Milliseconds; nowMs: () => Milliseconds },
): () => Promise<T> {
	let last: { atMs: Milliseconds; result: Promise<T> } | undefined;
	return () => {
		if (last && nowMs() - last.atMs < maxAgeMs) return last.result;
		const result = read();
		const mine = { atMs: nowMs(), result };
		last = mine;
		result.catch(() => {
			if (last === mine) last = undefined;
		});
		return result;
	};
}
