import type { Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { PreparedPoke } from "../durable/engine.ts";
import { laneTarget } from "../durable/poke-targets.ts";

/**
 * Returns the poke that asks a lane of the chain to take queued jobs, after the bundle window. All callers within one
 * window poke the same lane, once: the jobs that they queued before are there when it looks. The next window pokes
 * another lane. So `nowMs` must be later than the commit of the queued job: with an earlier time the lane may have
 * looked already, and the job waits for the next block.
 */
export function lanePoke({
	chainId,
	relayers,
	bundleWindowMs,
	nowMs,
}: {
	chainId: number;
	relayers: readonly Address[];
	bundleWindowMs: Milliseconds;
	nowMs: Milliseconds;
}): PreparedPoke[] {
	const window = Math.floor(nowMs / Math.max(bundleWindowMs, 1));
	const relayer = relayers[window % relayers.length];
	if (!relayer) return [];
	const target = laneTarget({ chainId, relayer });
	return [{ target, options: { delayMs: bundleWindowMs, dedupeKey: `${target.key}/${window}` } }];
}
