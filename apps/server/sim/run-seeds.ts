import { type PlanSizes, planOfSeed } from "./plan-arbitrary.ts";
import type { SimulationProcess } from "./simulation-process.ts";

export type SeedFailure = { seed: number; violations: string[] };

export type Progress = {
	seedsDone: number;
	seedsFailed: number;
	swaps: number;
	byStatus: Record<string, number>;
	events: number;
	simulatedMs: number;
	faultsApplied: Record<string, number>;
	serviceLossUsdCents: string;
};

/** Runs the plans of seeds in order, in several processes, until one fails, or all of them. */
export async function runSeeds({
	seeds,
	sizes,
	jobs,
	keepsGoing,
	start,
	onProgress,
	onFailure,
}: {
	seeds: readonly number[];
	sizes: PlanSizes;
	jobs: number;
	/** True to continue after a failure. */
	keepsGoing: boolean;
	start: () => SimulationProcess;
	onProgress?: (progress: Progress) => void;
	/** Called immediately, so that an operator can inspect a failure before a long run ends. */
	onFailure?: (failure: SeedFailure) => void;
}): Promise<{ progress: Progress; failures: SeedFailure[] }> {
	const progress: Progress = {
		seedsDone: 0,
		seedsFailed: 0,
		swaps: 0,
		byStatus: {},
		events: 0,
		simulatedMs: 0,
		faultsApplied: {},
		serviceLossUsdCents: "0",
	};
	const failures: SeedFailure[] = [];
	const waiting = [...seeds];

	async function work(): Promise<void> {
		let simulation = start();
		try {
			for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
				const violations = await runSeed(simulation, seed);
				progress.seedsDone++;
				if (violations.length > 0) {
					progress.seedsFailed++;
					failures.push({ seed, violations });
					onFailure?.({ seed, violations });
					if (!keepsGoing) waiting.length = 0;
					// The failed run may have left something behind.
					await simulation.stop();
					simulation = start();
				}
				onProgress?.(progress);
			}
		} finally {
			await simulation.stop();
		}
	}

	async function runSeed(simulation: SimulationProcess, seed: number): Promise<string[]> {
		try {
			const { violations, stats } = await simulation.run(planOfSeed(seed, sizes));
			progress.swaps += stats.swaps;
			progress.events += stats.events;
			progress.simulatedMs += stats.simulatedMs;
			addTo(progress.byStatus, stats.byStatus);
			addTo(progress.faultsApplied, stats.faultsApplied);
			progress.serviceLossUsdCents = String(
				BigInt(progress.serviceLossUsdCents) + BigInt(stats.serviceLossUsdCents),
			);
			return violations;
		} catch (error) {
			// A world that cannot continue counts as a failure, like one that ends wrongly.
			return [(error as Error).message];
		}
	}

	await Promise.all(Array.from({ length: jobs }, work));
	return { progress, failures: failures.toSorted((a, b) => a.seed - b.seed) };
}

function addTo(sums: Record<string, number>, more: Record<string, number>): void {
	for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
}
