import type { Milliseconds } from "@geoswap/protocol";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";

/** Interval of warnings about a collector that is down for hours. */
const remindAfterMs = 60_000;
/** The interface's result code for spans that arrived. */
const succeeded = { code: 0 };

/**
 * Forwards spans. Those that do not arrive are lost, at the cost of a line in the log now and then: a swap must never
 * wait for the collector of traces.
 */
export function quietExporter(
	exporter: SpanExporter,
	{ nowMs, log }: { nowMs: () => Milliseconds; log: Log },
): SpanExporter {
	let lost = 0;
	let toldAtMs = Number.NEGATIVE_INFINITY;
	return {
		export: (spans, done) =>
			exporter.export(spans, ({ code, error }) => {
				if (code !== succeeded.code) {
					lost += spans.length;
					if (nowMs() - toldAtMs >= remindAfterMs) {
						const { code: problem = error?.name } = (error ?? {}) as { code?: unknown };
						// Logged without its message, which may hold the collector's address, with a key in it.
						log.warn(
							{ spans: lost, problem },
							"traces were not delivered: telemetry.tracesUrl does not accept them",
						);
						lost = 0;
						toldAtMs = nowMs();
					}
				}
				done(succeeded);
			}),
		shutdown: () => exporter.shutdown(),
		forceFlush: async () => exporter.forceFlush?.(),
	};
}
