import { expect, test } from "vitest";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

test("a traceparent of this or a later version names a trace and a span", () => {
	expect(formatTraceparent({ traceId, spanId })).toBe(`00-${traceId}-${spanId}-01`);
	for (const text of [
		`00-${traceId}-${spanId}-01`,
		`00-${traceId}-${spanId}-00`,
		`cc-${traceId}-${spanId}-01-more`,
	]) {
		expect(parseTraceparent(text)).toEqual({ traceId, spanId });
	}
});

test.each([
	undefined,
	17,
	"",
	traceId,
	`ff-${traceId}-${spanId}-01`,
	`00-${traceId.toUpperCase()}-${spanId}-01`,
	`00-${"0".repeat(32)}-${spanId}-01`,
	`00-${traceId}-${"0".repeat(16)}-01`,
	`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
	`00-${traceId}-${spanId}-01-${"x".repeat(300)}`,
])("an invalid traceparent is ignored: %s", (text) => {
	expect(parseTraceparent(text)).toBeUndefined();
});
