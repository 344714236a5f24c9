import type { Milliseconds } from "@geoswap/protocol";
import type { Engine, Handler } from "../durable/engine.ts";
import type { RoundRun } from "./run-round.ts";

/** The maximum run of the handler. The engine takes a run away from a worker that was silent for a minute. */
const maxMs = 20_000;

/**
 * Key: a slot, from 0 on. A round takes any swaps that are due, so slots share nothing and need no rule. The locks of
 * the swaps' rows keep two rounds from one swap. One slot is enough for thousands of swaps a second, and makes the
 * largest batches. A slot that finds more than it can take pokes the next one to help.
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
