import type { Log } from "./log.ts";

/** How long what is under way may take before the process ends anyway. */
const patienceMs = 20_000;

/** Waits for SIGINT or SIGTERM, then closes in the given order. A second signal ends at once. */
export async function runUntilStopped({
	stopping,
	close,
	log,
}: {
	/** Aborted first: loops end by it. */
	stopping: AbortController;
	close: readonly (() => unknown)[];
	log: Log;
}): Promise<void> {
	const stop = Promise.withResolvers<string>();
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => {
			if (stopping.signal.aborted) process.exit(1);
			stop.resolve(signal);
		});
	}
	const reason = await stop.promise;
	log.info({ signal: reason }, "stopping");
	setTimeout(() => process.exit(1), patienceMs).unref();
	stopping.abort();
	for (const one of close) await one();
	log.info("stopped");
}
