import type { Address } from "viem";
import type { Engine } from "../durable/durable.ts";
import { laneKey } from "./lane-key.ts";

/**
 * Asks a lane of the chain to take what is queued, after the bundle window. All who ask within one window ask the same
 * lane, once: what they queued before asking is there when it looks. The next window's is another lane. So `nowMs` is a
 * moment after what was queued was committed: with an earlier one the lane may have looked already, and the job waits
 * for the next block.
 */
export async function pokeLanes(
	{ poke }: Pick<Engine, "poke">,
	{
		chainId,
		relayers,
		bundleWindowMs,
		nowMs,
	}: { chainId: number; relayers: readonly Address[]; bundleWindowMs: number; nowMs: number },
): Promise<void> {
	const window = Math.floor(nowMs / Math.max(bundleWindowMs, 1));
	const relayer = relayers[window % relayers.length];
	if (!relayer) return;
	const key = laneKey({ chainId, relayer });
	await poke({ object: "lane", key }, { delayMs: bundleWindowMs, dedupeKey: `${key}/${window}` });
}
