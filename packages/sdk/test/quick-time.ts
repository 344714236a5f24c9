/** How much faster time runs than in reality. */
export const quickness = 20;

/**
 * The maximum real time that the clocks count in one step. A process that waits longer for its turn is on a machine
 * that is busy with other work. Its clocks do not count the rest, or two busy seconds would end the life of an op.
 */
const maxStepMs = 10;

type Sleep = typeof import("../src/sleep.ts");

/** Replaces `sleep.ts` in `vi.mock`: shortens waits and speeds up clocks alike, so that they agree. */
export async function quickTime(importOriginal: () => Promise<unknown>): Promise<Sleep> {
	const { sleep } = (await importOriginal()) as Sleep;
	const elapsedMs = startQuickClock();
	const [startedMs, epochMs] = [performance.now(), Date.now()];
	performance.now = () => startedMs + elapsedMs();
	Date.now = () => Math.floor(epochMs + elapsedMs());
	return {
		sleep: async (delayMs, signal) => {
			const untilMs = elapsedMs() + delayMs;
			do await sleep(Math.max(0, untilMs - elapsedMs()) / quickness, signal);
			while (elapsedMs() < untilMs);
		},
	};
}

/** Starts a clock that runs `quickness` times as fast as reality while the process runs. */
function startQuickClock(): () => number {
	const now = performance.now.bind(performance);
	let [countedMs, seenMs] = [0, now()];
	const count = () => {
		const nowMs = now();
		countedMs += Math.min(nowMs - seenMs, maxStepMs);
		seenMs = nowMs;
		return countedMs * quickness;
	};
	setInterval(count, maxStepMs / 2).unref();
	return count;
}
