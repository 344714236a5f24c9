import type { Milliseconds } from "@geoswap/protocol";

/** News of a chain's blocks from its nodes' subscriptions. */
export type HeadNews = {
	/**
	 * Returns the highest block that was announced. Undefined if no subscription works, so that only polling shows new
	 * blocks.
	 */
	told: () => number | undefined;
	/** Returns the highest block that this process has read. */
	seen: () => number;
};

const shortestRetryMs = 1_000;
const maxRetryMs = 60_000;
/** A connection that lasted this long was a good one, so the delay before the next one is short again. */
const steadyMs = 60_000;
/** A subscription counts as broken after this many usual intervals without a block, within these bounds. */
const missedBlocks = 4;
const brokenAfterMs = { least: 2_000, most: 60_000 };

/**
 * Subscribes to the new blocks of each node until the signal aborts. A broken connection is made again, after a longer
 * delay each time. Never throws, because a node that offers no subscription is polled like the others.
 */
export function watchHeads({
	urls,
	seen,
	signal,
	nowMs = () => performance.now(),
}: {
	urls: readonly string[];
	seen: HeadNews["seen"];
	signal: AbortSignal;
	nowMs?: () => Milliseconds;
}): HeadNews {
	const watched = urls.map((url) => watchNode(url, { signal, nowMs }));
	return {
		seen,
		told: () => {
			const highest = Math.max(-1, ...watched.flatMap((told) => told() ?? []));
			// The nodes whose subscriptions work are behind, so their news would hold back a reader that has read further.
			return highest < 0 || highest < seen() ? undefined : highest;
		},
	};
}

function watchNode(
	url: string,
	{ signal, nowMs }: { signal: AbortSignal; nowMs: () => Milliseconds },
): () => number | undefined {
	let last: { number: number; atMs: Milliseconds } | undefined;
	let intervalMs = 0;
	let retryMs = shortestRetryMs;
	connect();
	return () => (last && nowMs() - last.atMs <= patienceMs() ? last.number : undefined);

	function patienceMs(): Milliseconds {
		const { least, most } = brokenAfterMs;
		return Math.min(Math.max(missedBlocks * intervalMs, least), most);
	}

	function connect(): void {
		if (signal.aborted) return;
		const startedMs = nowMs();
		const socket = new WebSocket(url);
		let heardMs = startedMs;
		// A connection can be lost without either side being notified.
		const look = setInterval(
			() => nowMs() - heardMs > brokenAfterMs.most && end(),
			brokenAfterMs.most / 4,
		).unref();
		let isEnded = false;
		signal.addEventListener("abort", end, { once: true });
		socket.addEventListener("open", () => {
			socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
		});
		socket.addEventListener("message", ({ data }) => {
			const number = headIn(String(data));
			if (number === undefined || isEnded) return;
			const atMs = nowMs();
			if (last && number > last.number) {
				const sample = (atMs - last.atMs) / (number - last.number);
				intervalMs = intervalMs === 0 ? sample : intervalMs + (sample - intervalMs) / 4;
			}
			last = { number, atMs };
			heardMs = atMs;
		});
		// A connection that fails to open is closed too.
		socket.addEventListener("close", end);

		function end(): void {
			if (isEnded) return;
			isEnded = true;
			clearInterval(look);
			signal.removeEventListener("abort", end);
			socket.close();
			last = undefined;
			if (signal.aborted) return;
			// The delay keeps growing for a provider that accepts connections and soon drops them.
			if (nowMs() - startedMs > steadyMs) retryMs = shortestRetryMs;
			setTimeout(connect, retryMs).unref();
			retryMs = Math.min(2 * retryMs, maxRetryMs);
		}
	}
}

/** Returns the number of the block that a message announces; undefined if it is another message. */
function headIn(message: string): number | undefined {
	try {
		const { params } = JSON.parse(message) as { params?: { result?: { number?: unknown } } };
		const number = Number(params?.result?.number);
		return Number.isSafeInteger(number) ? number : undefined;
	} catch {
		return undefined;
	}
}
