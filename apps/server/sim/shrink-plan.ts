import fc from "fast-check";
import type { Plan } from "./plan.ts";
import { type PlanSizes, planArbitrary } from "./plan-arbitrary.ts";
import type { RunResult } from "./run-plan.ts";

/** Returns the smallest plan that still fails, of those tried within the time limit. */
export async function shrinkPlan({
	seed,
	sizes,
	run,
	forMs,
	onSmaller,
}: {
	seed: number;
	sizes: PlanSizes;
	run: (plan: Plan) => Promise<RunResult>;
	forMs: number;
	onSmaller?: (plan: Plan, tried: number) => void;
}): Promise<{ plan: Plan; tried: number }> {
	let smallest: Plan | undefined;
	let tried = 0;
	await fc.check(
		fc.asyncProperty(planArbitrary(seed, sizes), async (plan) => {
			tried++;
			const { violations } = await run(plan);
			if (violations.length === 0) return true;
			smallest = plan;
			onSmaller?.(plan, tried);
			return false;
		}),
		{ seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: forMs },
	);
	if (!smallest) throw new Error(`seed ${seed} has no violation any more: its runs differ`);
	return { plan: smallest, tried };
}
