export type DemoStep = { elapsedMs: number; what: string };

/** Records and reports each step, with the time since the start. */
export function demoSteps(onStep: (step: DemoStep) => void): {
	steps: DemoStep[];
	say: (what: string) => void;
} {
	const startedAt = performance.now();
	const steps: DemoStep[] = [];
	return {
		steps,
		say: (what) => {
			const step = { elapsedMs: Math.round(performance.now() - startedAt), what };
			steps.push(step);
			onStep(step);
		},
	};
}
