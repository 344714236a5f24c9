import { pino } from "pino";
import { startTracing } from "../../src/telemetry/start-tracing.ts";
import type { Tracer } from "../../src/telemetry/tracer.ts";

export type KeptSpan = {
	name: string;
	traceId: string;
	spanId: string;
	parentId: string | undefined;
	attributes: Record<string, unknown>;
	links: string[];
	isError: boolean;
};

/** Creates a tracer that keeps its spans in memory. */
export function keepSpans({
	sampleRatio = 1,
	random = () => 0.5,
}: {
	sampleRatio?: number;
	random?: () => number;
} = {}): {
	tracer: Tracer;
	/** Exports and returns all spans that have ended. Later spans are not kept. */
	spans: () => Promise<KeptSpan[]>;
} {
	const kept: KeptSpan[] = [];
	const { tracer, stop } = startTracing({
		tracesUrl: "http://127.0.0.1:9/v1/traces",
		sampleRatio,
		service: "test",
		nowMs: Date.now,
		random,
		log: pino({ level: "silent" }),
		exporter: {
			export: (spans, done) => {
				for (const span of spans) {
					kept.push({
						name: span.name,
						...span.spanContext(),
						parentId: span.parentSpanContext?.spanId,
						attributes: span.attributes,
						links: span.links.map((link) => link.context.traceId),
						isError: span.status.code === 2,
					});
				}
				done({ code: 0 });
			},
			shutdown: async () => {},
		},
	});
	return {
		tracer,
		spans: async () => {
			await stop();
			return kept;
		},
	};
}
