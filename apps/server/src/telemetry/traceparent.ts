/** What a W3C traceparent names: a span, and the trace that it is of. */
export type TraceName = { traceId: string; spanId: string };

// Versions to come may add fields at the end, never change these.
const pattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,256})?$/;

/** Undefined where it names nothing: whoever wrote it may be a stranger. */
export function parseTraceparent(text: unknown): TraceName | undefined {
	const [, traceId, spanId] = (typeof text === "string" && pattern.exec(text)) || [];
	if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
	return { traceId, spanId };
}

/** Of a trace that is kept. */
export function formatTraceparent({ traceId, spanId }: TraceName): string {
	return `00-${traceId}-${spanId}-01`;
}
