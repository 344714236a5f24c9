import type { Address } from "viem";
import type { PreparedPoke } from "../durable/durable.ts";
import { laneKey } from "./lane-key.ts";

/**
 * What asks a lane of the chain to take what is queued, after the bundle window. All who ask within one window ask the
 * same lane, once: what they queued before asking is there when it looks. The next window's is another lane. So `nowMs`
 * is a moment after what was queued was committed: with an earlier one the lane may have looked already, and the job
 * waits for the next block.
 */
export function lanePoke({
	chainId,
	relayers,
	bundleWindowMs,
	nowMs,
}: {
	chainId: number;
	relayers: readonly Address[];
	bundleWindowMs: number;
	nowMs: number;
}): PreparedPoke[] {
	const window = Math.floor(nowMs / Math.max(bundleWindowMs, 1));
	const relayer = relayers[window % relayers.length];
	if (!relayer) return [];
	const key = laneKey({ chainId, relayer });
	return [
		{ target: { object: "lane", key }, options: { delayMs: bundleWindowMs, dedupeKey: `${key}/${window}` } },
	];
}
