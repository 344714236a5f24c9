import type { Log } from "../telemetry/log.ts";

/** How long what is under way may take before the process ends anyway. */
const patienceMs = 20_000;

/**
 * Waits for SIGINT or SIGTERM, drains, then closes in the given order. A second signal ends at once. What does not end by
 * itself fails, unless the drain has set the process' exit code.
 */
export async function runUntilStopped({
	stopping,
	drain,
	close,
	log,
}: {
	/** Aborted after the drain: loops end by it. */
	stopping: AbortController;
	/** What is done first, while everything still works. It has a patience of its own. */
	drain?: () => Promise<void>;
	close: readonly (() => unknown)[];
	log: Log;
}): Promise<void> {
	const end = () => process.exit(process.exitCode ?? 1);
	const stop = Promise.withResolvers<string>();
	let isStopping = false;
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => {
			if (isStopping) end();
			isStopping = true;
			stop.resolve(signal);
		});
	}
	const reason = await stop.promise;
	log.info({ signal: reason }, "stopping");
	await drain?.();
	setTimeout(end, patienceMs).unref();
	stopping.abort();
	for (const one of close) {
		try {
			await one();
		} catch (error) {
			log.error({ err: error }, "not all could be closed");
			process.exitCode ??= 1;
		}
	}
	log.info("stopped");
}
