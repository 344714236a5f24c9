import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";

/** A collector that is down for hours is told of this often. */
const remindAfterMs = 60_000;
/** Of the interface: whether the spans arrived. */
const succeeded = { code: 0 };

/**
 * Hands spans on. Those that do not arrive are lost, which costs nobody but a line in the log now and then: where traces
 * go is not a part that a swap may wait for.
 */
export function quietExporter(
	exporter: SpanExporter,
	{ nowMs, log }: { nowMs: () => number; log: Log },
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
						// Without its message: that may hold the collector's address, with a key in it.
						log.warn(
							{ spans: lost, problem },
							"traces were not delivered: telemetry.tracesUrl does not take them",
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
