import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../trouble/seeded-random.ts";
import type { Pace } from "./load.ts";

export type SwapsResult = {
	/** Time from each submit to the answer that reports it as settled. */
	tookMs: number[];
	/** Time of that answer, from the start of the run. */
	endedAtMs: number[];
	/** Swaps that the service refused. On a machine that is too busy, ops expire, and chains do not answer in time. */
	refused: number;
};

export type Run = () => Promise<"settled" | "refused">;

/** Runs each of them at the given pace. Returns their durations and end times when all have ended. */
export async function keepPace(runs: readonly Run[], pace: Pace): Promise<SwapsResult> {
	const result: SwapsResult = { tookMs: [], endedAtMs: [], refused: 0 };
	const startedAt = performance.now();
	const timed = async (run: Run) => {
		const beganAt = performance.now();
		const outcome = await run();
		const endedAt = performance.now();
		if (outcome === "refused") {
			result.refused += 1;
			return;
		}
		result.tookMs.push(endedAt - beganAt);
		result.endedAtMs.push(endedAt - startedAt);
	};
	if ("inFlight" in pace) {
		const left = runs.values();
		const runner = async () => {
			for (const run of left) await timed(run);
		};
		await Promise.all(Array.from({ length: pace.inFlight }, runner));
	} else {
		// The requests start at the same random moments in every run, so that they are not aligned with blocks.
		const { between } = seededRandom(1);
		await Promise.all(
			runs.map(async (run, i) => {
				await sleep((i * 1_000 + between(0, 999)) / pace.perSecond);
				await timed(run);
			}),
		);
	}
	return result;
}
