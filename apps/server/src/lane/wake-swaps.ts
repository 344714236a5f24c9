import type { SwapUuid } from "@geoswap/protocol";
import { roundTarget } from "../durable/poke-targets.ts";
import type { LaneDeps } from "./evm/lane.ts";

/** Pokes a round to process swaps whose jobs changed. The code that changed the jobs has made the swaps due. */
export async function wakeSwaps(
	{ engine, log }: Pick<LaneDeps, "engine" | "log">,
	swapIds: readonly SwapUuid[],
): Promise<void> {
	if (swapIds.length === 0) return;
	// If the poke fails, the tick finds the swaps.
	await engine.poke(roundTarget).catch((err: unknown) => {
		log.warn({ swapIds, err }, "the round could not be poked");
	});
}
