import type { Durable, PokeTarget } from "../src/durable/durable.ts";

/** An engine that forgets everything at once: steps run where they stand, and time does not pass. */
export type InProcessDurable = Durable & {
	steps: string[];
	pokes: PokeTarget[];
	/** Called wherever an execution waits; what it returns is how the wait ended. */
	onWait: (timeoutMs: number) => Promise<"signalled" | "timeout">;
};

export function createInProcessDurable(onWait: InProcessDurable["onWait"]): InProcessDurable {
	let signals = 0;
	const durable: InProcessDurable = {
		steps: [],
		pokes: [],
		onWait,
		step: (name, run) => {
			durable.steps.push(name);
			return run();
		},
		newSignal: async () => ({ id: `signal-${++signals}`, wait: (timeoutMs) => durable.onWait(timeoutMs) }),
		sleep: async (ms) => {
			await durable.onWait(ms);
		},
		poke: async (target) => {
			durable.pokes.push(target);
		},
	};
	return durable;
}
