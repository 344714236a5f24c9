import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import {
	type Attributes as OtelAttributes,
	ROOT_CONTEXT,
	SpanKind,
	SpanStatusCode,
	trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
	AlwaysOnSampler,
	BatchSpanProcessor,
	type SpanExporter,
	TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";
import { formatTraceparent, parseTraceparent, type TraceName } from "./traceparent.ts";
import { type Attributes, attributeNames, type Tracer } from "./tracer.ts";

/** Spans beyond this number, a few megabytes, are dropped until the collector accepts some. */
const maxQueueSize = 4_096;
const maxExportBatchSize = 512;
/** Milliseconds of spans that are lost if a process is killed. */
const exportEveryMs = 1_000;
const exportTimeoutMs = 5_000;
const stopTimeoutMs = 3_000;
/** The longest legitimate value is the signature of a Solana transaction. */
const longestValue = 256;

export type Tracing = {
	tracer: Tracer;
	/** Sends the remaining spans. */
	stop: () => Promise<void>;
};

/** Starts tracing, which sends spans in batches to a collector that supports OTLP over HTTP. */
export function startTracing({
	tracesUrl,
	sampleRatio,
	service,
	nowMs,
	random,
	log,
	exporter = new OTLPTraceExporter({ url: tracesUrl, timeoutMillis: exportTimeoutMs }),
}: {
	tracesUrl: string;
	/**
	 * The share of traces that are kept. This is decided here at the start of each trace, so a caller cannot request to
	 * be traced.
	 */
	sampleRatio: number;
	service: string;
	nowMs: () => Milliseconds;
	random: () => number;
	log: Log;
	exporter?: SpanExporter;
}): Tracing {
	const provider = new TracerProvider({
		resource: resourceFromAttributes({ "service.name": service }),
		sampler: new AlwaysOnSampler(),
		spanLimits: { attributeValueLengthLimit: longestValue },
		spanProcessors: [
			new BatchSpanProcessor({
				exporter: quietExporter(exporter, { nowMs, log }),
				maxQueueSize,
				maxExportBatchSize,
				scheduledDelayMillis: exportEveryMs,
				exportTimeoutMillis: 2 * exportTimeoutMs,
			}),
		],
	});
	const tracer = provider.getTracer("geoswap");
	return {
		tracer: {
			begin: (name, { startMs, attributes, callersTrace }) => {
				// Decided before anything is created, so a trace that is not kept costs one comparison.
				if (random() >= sampleRatio) return undefined;
				const callers = parseTraceparent(callersTrace);
				const span = tracer.startSpan(
					name,
					{
						root: true,
						kind: SpanKind.SERVER,
						startTime: startMs,
						attributes: listed(attributes),
						...(callers && { links: [{ context: contextOf(callers) }] }),
					},
					ROOT_CONTEXT,
				);
				return {
					traceparent: formatTraceparent(span.spanContext()),
					set: (more) => span.setAttributes(listed(more)),
					end: ({ isError } = { isError: false }) => {
						if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
						span.end(nowMs());
					},
				};
			},
			record: (name, { parent, startMs, attributes, isError = false }) => {
				const before = parseTraceparent(parent);
				if (!before) return;
				const span = tracer.startSpan(
					name,
					{ startTime: startMs, attributes: listed(attributes) },
					trace.setSpanContext(ROOT_CONTEXT, contextOf(before)),
				);
				if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
				span.end(nowMs());
			},
		},
		stop: async () => {
			// Spans that the collector has not accepted by then are not worth a slow stop.
			await Promise.race([provider.shutdown(), sleep(stopTimeoutMs, undefined, { ref: false })]);
		},
	};
}

function contextOf(name: TraceName) {
	return { ...name, traceFlags: 1, isRemote: true };
}

/** Drops unlisted attributes. The type forbids them too, but types do not exist at run time. */
function listed(attributes: Attributes): OtelAttributes {
	const kept: OtelAttributes = {};
	for (const name of attributeNames) {
		const value = attributes[name];
		if (typeof value === "string" || typeof value === "number") kept[name] = value;
	}
	return kept;
}

/** Interval of warnings while a collector is down for hours. */
const remindAfterMs = 60_000;
/** The result code of the library's interface for delivered spans. */
const succeeded = { code: 0 };

/**
 * Forwards spans. Those that do not arrive are lost and occasionally logged, because a swap must never wait for the
 * trace collector.
 */
function quietExporter(
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
						// Logged without its message, which may contain the collector's address with a key.
						log.warn(
							{ spans: lost, problem },
							"traces were not delivered, because telemetry.tracesUrl does not accept them",
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
