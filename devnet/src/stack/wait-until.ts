import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 50;

/** Polls until `isSo` returns true. A throw counts as false. */
export async function waitUntil(
	isSo: () => Promise<boolean>,
	{
		timeoutMs,
		problem,
		hopeless = () => false,
	}: {
		timeoutMs: number;
		/** The error message if it never becomes true. */
		problem: () => string;
		/** Returns true if waiting on is pointless. */
		hopeless?: () => boolean;
	},
): Promise<void> {
	const deadline = performance.now() + timeoutMs;
	while (!(await isSo().catch(() => false))) {
		if (hopeless() || performance.now() > deadline) throw new Error(problem());
		await sleep(pollMs);
	}
}
