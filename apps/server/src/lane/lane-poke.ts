import type { Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { PreparedPoke } from "../durable/engine.ts";
import { laneTarget } from "../durable/poke-targets.ts";

/**
 * Returns the poke that makes a lane of the chain take queued jobs, after the bundle window. All callers within one
 * window poke the same lane, once, so the jobs that they queued before are there when it runs. The next window pokes
 * another lane. So `nowMs` must be later than the commit of the queued job. With an earlier time the lane may have run
 * already, and the job waits for the next block.
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
