export type Stoppable = { stop: () => Promise<void> };

/** Records everything that was started, so that it can be stopped in reverse order. */
export function startOrder(): {
	together: <T extends Record<string, Promise<Stoppable>>>(
		starting: T,
	) => Promise<{ [Name in keyof T]: Awaited<T[Name]> }>;
	stop: () => Promise<void>;
} {
	const started: Stoppable[] = [];
	return {
		/** If one fails, the others are awaited, because a process that is still starting cannot be stopped. */
		together: async (starting) => {
			const names = Object.keys(starting);
			const settled = await Promise.allSettled(Object.values(starting));
			for (const one of settled) if (one.status === "fulfilled") started.push(one.value);
			const values = settled.map((one) => {
				if (one.status === "rejected") throw one.reason;
				return one.value;
			});
			return Object.fromEntries(values.map((value, i) => [names[i], value])) as {
				[Name in keyof typeof starting]: Awaited<(typeof starting)[Name]>;
			};
		},
		stop: async () => {
			const problems: unknown[] = [];
			// A process that cannot be stopped must not keep the others running.
			for (const one of started.splice(0).reverse()) await one.stop().catch((error) => problems.push(error));
			if (problems.length > 0) throw problems[0];
		},
	};
}
