/** Maximum number of slots to catch up on, so that a machine that slept does not make up for the whole night. */
const maxAtOnce = 1_000;

/**
 * Calls `tick` for each slot at its time, for as long as the process lives. A busy machine delays slots but never skips
 * them, because the lifetime of a blockhash in seconds must not depend on the machine's load.
 */
export function slotClock({ slotMs, tick }: { slotMs: number; tick: () => void }): void {
	const startedAt = performance.now();
	let passed = 0;
	const schedule = () => {
		setTimeout(
			() => {
				const due = Math.floor((performance.now() - startedAt) / slotMs);
				passed = Math.max(passed, due - maxAtOnce);
				for (; passed < due; passed++) tick();
				schedule();
			},
			Math.max(1, startedAt + (passed + 1) * slotMs - performance.now()),
		);
	};
	schedule();
}
