import type { SwapUuid } from "@geoswap/protocol";
import type { LaneDeps } from "./evm/lane.ts";

/** Asks for a round that looks at what became of swaps' jobs. Whoever changed the jobs has made the swaps due. */
export async function wakeSwaps(
	{ engine, log }: Pick<LaneDeps, "engine" | "log">,
	swapIds: readonly SwapUuid[],
): Promise<void> {
	if (swapIds.length === 0) return;
	// At worst the tick finds them.
	await engine.poke({ object: "round", key: "0" }).catch((err: unknown) => {
		log.warn({ swapIds, err }, "no round was asked for");
	});
}
