/** One life of a process in a simulated world. Calls that it makes after its death are never answered. */
export type SimProcess = {
	name: string;
	isAlive: () => boolean;
	/** Called wherever the process is about to make a call, and wherever it has an answer. It may die there. */
	touch: (what: string) => void;
	/** Returns the result of a call. Never settles if the process dies before it. */
	hear: <T>(work: Promise<T>) => Promise<T>;
	/** Milliseconds by which its clock is ahead. */
	skewMs: number;
	/** Makes it die at the n-th touch from now. */
	dieAt: (touches: number) => void;
	die: () => void;
	/** Registers a callback. Returns a function that removes it. */
	onDeath: (run: () => void) => () => void;
};

export function createSimProcess({
	name,
	onTouch,
}: {
	name: string;
	onTouch?: (what: string) => void;
}): SimProcess {
	let isAlive = true;
	let left = Number.POSITIVE_INFINITY;
	const atDeath = new Set<() => void>();
	const process: SimProcess = {
		name,
		skewMs: 0,
		isAlive: () => isAlive,
		touch: (what) => {
			if (!isAlive) return;
			onTouch?.(what);
			if (--left <= 0) process.die();
		},
		hear: async (work) => {
			try {
				const answer = await work;
				return isAlive ? answer : await never();
			} catch (error) {
				if (!isAlive) await never();
				throw error;
			}
		},
		dieAt: (touches) => {
			left = Math.max(1, touches);
		},
		die: () => {
			if (!isAlive) return;
			isAlive = false;
			for (const run of atDeath) run();
			atDeath.clear();
		},
		onDeath: (run) => {
			atDeath.add(run);
			return () => atDeath.delete(run);
		},
	};
	return process;
}

export function never(): Promise<never> {
	return new Promise<never>(() => {});
}
