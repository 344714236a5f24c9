import type { Handler } from "../durable/engine.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Combines the lanes of all chains into the one object that is registered with the engine, whose keys begin with a
 * chain's id.
 */
export function lanesByChain(lanes: ReadonlyMap<number, Handler>, { log }: { log: Log }): Handler {
	return async (key) => {
		const run = lanes.get(Number(key.split(":", 1)[0]));
		if (run) await run(key);
		else log.warn({ lane: key }, "poked a lane of a chain that is not configured");
	};
}
