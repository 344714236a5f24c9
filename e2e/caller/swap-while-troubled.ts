import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../environment/environment.ts";
import { planMixedSwap } from "./mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "./swap-through.ts";

const maxStreams = 10;
const betweenTroublesMs = 3_000;

/**
 * Makes swaps, on all chains by default, while `trouble` is called again and again with the number of its round.
 * Returns the swaps once each has ended and the last trouble is over.
 */
export async function swapWhileTroubled(
	environment: Environment,
	{
		swapCount,
		plan: planOf = planMixedSwap,
		trouble,
	}: {
		swapCount: number;
		/** Returns the n-th swap. */
		plan?: typeof planMixedSwap;
		trouble: (round: number) => void | Promise<void>;
	},
): Promise<TimedSwap[]> {
	const client = await environment.newClient();
	let planned = 0;
	let isOver = false;
	const swapping = Array.from({ length: Math.min(swapCount, maxStreams) }, async () => {
		const ended: TimedSwap[] = [];
		while (planned < swapCount && !isOver) {
			const plan = await planOf(environment, planned++);
			ended.push(await newWalletSwapsThrough(environment, client, plan));
		}
		return ended;
	});
	const troubling = (async () => {
		for (let round = 0; !isOver; round++) {
			await trouble(round);
			await sleep(betweenTroublesMs);
		}
	})();
	const swaps = Promise.all(swapping).finally(() => {
		isOver = true;
	});
	const [ended] = await Promise.all([swaps, troubling]);
	return ended.flat();
}
