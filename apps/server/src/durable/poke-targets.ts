import type { Address } from "viem";
import type { Log } from "../telemetry/log.ts";
import type { Engine, PokeTarget } from "./engine.ts";

/** The slot in which rounds begin. A round starts the next slot itself if it has more work than one slot can do. */
export const roundTarget: PokeTarget = { object: "round", key: "0" };

/** Returns the target of a lane, whose key is `laneKey`. */
export function laneTarget(lane: { chainId: number; relayer: Address }): PokeTarget {
	return { object: "lane", key: laneKey(lane) };
}

/**
 * Returns the key of a lane, which is one relayer on one chain. Two bundles with one nonce would replace each other,
 * and nonces are counted per account and chain. So nothing narrower serialises them, and anything wider would make
 * relayers wait for each other.
 */
export function laneKey({ chainId, relayer }: { chainId: number; relayer: Address }): string {
	return `${chainId}:${relayer.toLowerCase()}`;
}

/**
 * Returns an engine whose pokes are not awaited and never throw, because an engine that is down or hangs must not
 * delay a follower, a lane or a submit. The tick makes up for a lost poke.
 */
export function pokeAtOnce(engine: Engine, log: Log): Engine {
	let isGone = false;
	return {
		poke: async (target, options) => {
			engine.poke(target, options).then(
				() => {
					if (isGone) log.info("the engine accepts pokes again");
					isGone = false;
				},
				(error: unknown) => {
					// Logged once, not for every poke while the engine is down.
					if (!isGone) log.warn({ err: error }, "the engine does not accept pokes; ticks do the due work");
					isGone = true;
				},
			);
		},
	};
}
