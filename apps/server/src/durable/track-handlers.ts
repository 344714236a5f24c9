import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Handler, PokeTarget } from "./engine.ts";

export type Handlers = Record<PokeTarget["object"], Handler>;

export type TrackedHandlers = {
	handlers: Handlers;
	/** Returns whether this process is running the handler of that key. */
	isRunning: (target: PokeTarget) => boolean;
	/** Refuses new handlers from now on, and waits for running ones, at most `patienceMs`. */
	finish: (patienceMs: Milliseconds) => Promise<void>;
};

/** Tracks which handlers this process runs, regardless of what started them. */
export function trackHandlers(handlers: Handlers): TrackedHandlers {
	const running = new Map<string, Set<Promise<void>>>();
	let isFinishing = false;

	function tracked(object: PokeTarget["object"]): Handler {
		return async (key) => {
			if (isFinishing) throw new Error("this worker is stopping");
			const name = `${object}/${key}`;
			const run = handlers[object](key);
			const ofKey = running.get(name) ?? new Set();
			running.set(name, ofKey.add(run));
			try {
				await run;
			} finally {
				ofKey.delete(run);
				if (ofKey.size === 0) running.delete(name);
			}
		};
	}

	return {
		handlers: {
			round: tracked("round"),
			lane: tracked("lane"),
			attestation: tracked("attestation"),
			crossCheck: tracked("crossCheck"),
		},
		isRunning: ({ object, key }) => running.has(`${object}/${key}`),
		finish: async (patienceMs) => {
			isFinishing = true;
			const ending = Promise.allSettled([...running.values()].flatMap((runs) => [...runs]));
			const patience = new AbortController();
			await Promise.race([ending, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})]);
			patience.abort();
		},
	};
}
