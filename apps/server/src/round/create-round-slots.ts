import type { Milliseconds } from "@geoswap/protocol";
import type { Engine, Handler } from "../durable/engine.ts";
import type { RoundRun } from "./run-round.ts";

/** Longest run of the handler: the engine takes it away from a worker that it has not heard from for a minute. */
const maxMs = 20_000;

/**
 * Key: a slot, from 0 on. A round takes whichever swaps are due, so slots share nothing and need no rule: the locks of
 * the swaps' rows keep two rounds from one swap. One slot is enough for thousands of swaps a second, and makes the
 * largest batches. A slot that finds more than it can take asks the next one to help.
 */
export function createRoundSlots({
	runRound,
	slots,
	engine,
	nowMs,
}: {
	runRound: () => Promise<RoundRun>;
	slots: number;
	engine: Engine;
	nowMs: () => Milliseconds;
}): Handler {
	return async (key) => {
		const endsAtMs = nowMs() + maxMs;
		while ((await runRound()).hasMore) {
			const next = Number(key) + 1;
			if (next < slots) await engine.poke({ object: "round", key: String(next) });
			if (nowMs() >= endsAtMs) return engine.poke({ object: "round", key });
		}
	};
}
