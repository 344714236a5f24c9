import type { SwapUuid } from "@geoswap/protocol";
import { readSignals } from "../store/read-signals.ts";
import type { LaneDeps } from "./lane.ts";

/** Lets the swaps look at what became of their jobs. One that is not reached looks by itself, later. */
export async function wakeSwaps(
	{ pool, engine, log }: Pick<LaneDeps, "pool" | "engine" | "log">,
	swapIds: readonly SwapUuid[],
): Promise<void> {
	if (swapIds.length === 0) return;
	const signals = await readSignals(pool, swapIds);
	const raised = await Promise.allSettled(signals.map((signal) => engine.raise(signal)));
	const failed = raised.find((result) => result.status === "rejected");
	if (failed) log.warn({ swapIds, err: failed.reason }, "swaps not woken");
}
