import type { Log } from "../telemetry/log.ts";
import type { Engine } from "./engine.ts";

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
