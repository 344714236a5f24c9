import type { Log } from "../telemetry/log.ts";

/** Milliseconds that work in flight may take before the process ends anyway. */
const patienceMs = 20_000;

/**
 * Waits for SIGINT or SIGTERM, drains, then closes in the given order. A second signal ends the process immediately.
 * A process that does not end by itself exits with an error, unless the drain has set its exit code.
 */
export async function runUntilStopped({
	stopping,
	drain,
	close,
	log,
}: {
	/** Aborted after the drain, which ends the loops. */
	stopping: AbortController;
	/** Runs first, while everything still works. It has its own timeout. */
	drain?: () => Promise<void>;
	close: readonly (() => unknown)[];
	log: Log;
}): Promise<void> {
	const end = () => process.exit(process.exitCode ?? 1);
	const stop = Promise.withResolvers<string>();
	let isStopping = false;
	// A process continues when its terminal closes.
	process.on("SIGHUP", () => {});
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
			log.error({ err: error }, "a part could not be closed");
			process.exitCode ??= 1;
		}
	}
	log.info("stopped");
}
