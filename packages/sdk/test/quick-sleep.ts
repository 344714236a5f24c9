/** How much faster than in earnest the waits are. */
export const quickness = 50;

type Sleep = typeof import("../src/sleep.ts");

/** For `vi.mock`: the same waits, fifty times as fast. */
export async function quickSleep(importOriginal: () => Promise<unknown>): Promise<Sleep> {
	const { sleep } = (await importOriginal()) as Sleep;
	return { sleep: (delayMs, signal) => sleep(delayMs / quickness, signal) };
}
