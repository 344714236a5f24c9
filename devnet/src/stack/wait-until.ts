import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 50;

/** Asks until the answer is yes. A question that throws is a no. */
export async function waitUntil(
	isSo: () => Promise<boolean>,
	{
		timeoutMs,
		problem,
		hopeless = () => false,
	}: {
		timeoutMs: number;
		/** What to say when it never was. */
		problem: () => string;
		/** It will never be: no need to wait on. */
		hopeless?: () => boolean;
	},
): Promise<void> {
	const deadline = performance.now() + timeoutMs;
	while (!(await isSo().catch(() => false))) {
		if (hopeless() || performance.now() > deadline) throw new Error(problem());
		await sleep(pollMs);
	}
}
