/** The span that a W3C traceparent names, and the trace that it belongs to. */
export type TraceName = { traceId: string; spanId: string };

// Future versions may add fields at the end, but never change these.
const pattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,256})?$/;

/** Returns the names in a traceparent, or undefined if it names no span, because a stranger may have written it. */
export function parseTraceparent(text: unknown): TraceName | undefined {
	const [, traceId, spanId] = (typeof text === "string" && pattern.exec(text)) || [];
	if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
	return { traceId, spanId };
}

/** Formats the traceparent of a trace that is kept. */
export function formatTraceparent({ traceId, spanId }: TraceName): string {
	return `00-${traceId}-${spanId}-01`;
}
