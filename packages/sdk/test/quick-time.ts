/** How much faster time runs than in reality: a machine that stalls for half a second stalls for ten. */
export const quickness = 20;

type Sleep = typeof import("../src/sleep.ts");

/** Replaces `sleep.ts` in `vi.mock`: shortens waits and speeds up clocks alike, so that they agree. */
export async function quickTime(importOriginal: () => Promise<unknown>): Promise<Sleep> {
	const { sleep } = (await importOriginal()) as Sleep;
	Date.now = quick(Date.now);
	performance.now = quick(performance.now.bind(performance));
	return { sleep: (delayMs, signal) => sleep(delayMs / quickness, signal) };
}

function quick(now: () => number): () => number {
	const startedMs = now();
	return () => startedMs + (now() - startedMs) * quickness;
}
