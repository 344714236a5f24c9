import type { Io } from "./io.ts";

/** Thrown where a person, or the system, ended the waiting. */
export class Interrupted extends Error {}

/** Runs with a signal that Ctrl-C aborts. */
export async function watchInterrupt<T>(io: Io, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
	const controller = new AbortController();
	const stop = io.onInterrupt(() => controller.abort(new Interrupted("interrupted")));
	try {
		return await work(controller.signal);
	} finally {
		stop();
	}
}
