/** A machine that slept does not make up for the whole night. */
const mostAtOnce = 1_000;

/**
 * Slots at their time, for as long as the process lives. A busy machine makes them late, never fewer: how long a
 * blockhash is good in seconds must not depend on what else runs.
 */
export function slotClock({ slotMs, tick }: { slotMs: number; tick: () => void }): void {
	const startedAt = performance.now();
	let passed = 0;
	const schedule = () => {
		setTimeout(
			() => {
				const due = Math.floor((performance.now() - startedAt) / slotMs);
				passed = Math.max(passed, due - mostAtOnce);
				for (; passed < due; passed++) tick();
				schedule();
			},
			Math.max(1, startedAt + (passed + 1) * slotMs - performance.now()),
		);
	};
	schedule();
}
