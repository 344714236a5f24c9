import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import { expect } from "vitest";
import { countStatuses, planMixedSwap } from "../caller/mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../caller/swap-through.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { percentile } from "../measure/percentile.ts";
import type { Machines } from "./start-machines.ts";
import { type OutageWatch, watchOutages } from "./watch-outages.ts";

const streamCount = 12;
/** Time until the last deadline of a swap that no process could work on is final, with some time to report it. */
const decidedWithinMs = 300_000;

/**
 * Swaps on all chains while `trouble` runs, and afterwards until there were enough swaps. `trouble` gets the progress
 * of the swaps. Then expects every unit to be where it belongs, and the books to be exact.
 */
export async function swapThroughTrouble(
	{ environment }: Machines,
	{ swapCount, trouble }: { swapCount: number; trouble: (context: TroubleContext) => Promise<void> },
): Promise<void> {
	const client = await environment.newClient();
	const watch = watchOutages(environment);
	let planned = 0;
	let isTroubled = true;
	let hasBroken = false;
	const until = async (share: number) => {
		while (planned < swapCount * share && !hasBroken) await sleep(50);
		if (hasBroken) throw new Error("a swap has failed");
	};
	const startedAt = performance.now();
	const troubling = trouble({ until, during: watch.during }).finally(() => {
		isTroubled = false;
		watch.during("none");
	});
	const swapping = Array.from({ length: streamCount }, async () => {
		const ended: TimedSwap[] = [];
		while ((isTroubled || planned < swapCount) && !hasBroken) {
			const plan = await planMixedSwap(environment, planned++);
			try {
				ended.push(await newWalletSwapsThrough(environment, client, plan));
			} catch (error) {
				hasBroken = true;
				throw error;
			}
		}
		return ended;
	});
	const [, swaps] = await Promise.all([troubling, Promise.all(swapping).then((ended) => ended.flat())]);
	const minutes = (performance.now() - startedAt) / 60_000;
	const times = swaps.map(({ decidedMs }) => Math.round(decidedMs));
	console.log(`${swaps.length} swaps in ${minutes.toFixed(1)} minutes:`, countStatuses(swaps), {
		p50Ms: percentile(times, 50),
		p95Ms: percentile(times, 95),
		maxMs: Math.max(...times),
		failures: swaps.flatMap(({ swap }) => swap.failure?.code ?? []),
	});
	console.table(await watch.stop());
	for (const { swap } of swaps.filter(({ swap }) => swap.status !== "settled")) {
		console.log(await serverCommand(environment.serverEnvironment, ["swaps", "show", swap.swapId]));
	}
	expect(swaps.length).toBeGreaterThanOrEqual(swapCount);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);
}

export type TroubleContext = {
	/** Resolves once this share of the swaps has begun, from 0 to 1. */
	until: (share: number) => Promise<void>;
	during: OutageWatch["during"];
};
