import type { Log } from "../telemetry/log.ts";
import type { Engine } from "./durable.ts";

/**
 * An engine whose pokes are not waited for and never throw: an engine that is gone or hangs must hold up no follower, no
 * lane and no submit. The tick makes up for a poke that is lost.
 */
export function pokeAtOnce(engine: Engine, log: Log): Engine {
	let isGone = false;
	return {
		poke: async (target, options) => {
			engine.poke(target, options).then(
				() => {
					if (isGone) log.info("the engine takes pokes again");
					isGone = false;
				},
				(error: unknown) => {
					// Once, and not for every poke while it is gone.
					if (!isGone) log.warn({ err: error }, "the engine takes no pokes: ticks do what is due");
					isGone = true;
				},
			);
		},
	};
}
