/** How much faster than in earnest time goes: a machine that stops for half a second stops for ten. */
export const quickness = 20;

type Sleep = typeof import("../src/sleep.ts");

/** For `vi.mock` of `sleep.ts`: waits are shorter and clocks faster alike, so that they agree. */
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
