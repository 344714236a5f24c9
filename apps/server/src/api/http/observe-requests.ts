import type { ErrorBody, Milliseconds } from "@geoswap/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestMetrics } from "../../telemetry/request-metrics.ts";
import type { Span, Tracer } from "../../telemetry/tracer.ts";

/** Reports requests to the operators of the service. */
export type RequestObserver = {
	/**
	 * Called once the request's key was accepted. From then on it may be traced, so strangers cannot fill the
	 * collector.
	 */
	identified: (request: FastifyRequest) => void;
	refused: (request: FastifyRequest, body: ErrorBody) => void;
	/** Returns the request's span if it is traced. */
	spanOf: (request: FastifyRequest) => Span | undefined;
};

type Seen = { startMs: Milliseconds; startedAt: number; code: string; span: Span | undefined };

const unobserved: RequestObserver = { identified: () => {}, refused: () => {}, spanOf: () => undefined };

/**
 * Counts every request of the server and traces those with a key. Without `tracer` and `metrics` a request costs
 * nothing.
 */
export function observeRequests(
	app: FastifyInstance,
	{
		tracer,
		metrics,
		nowMs,
	}: { tracer: Tracer | undefined; metrics: RequestMetrics | undefined; nowMs: () => Milliseconds },
): RequestObserver {
	if (!tracer && !metrics) return unobserved;
	const requests = new WeakMap<FastifyRequest, Seen>();

	app.addHook("onRequest", (request, reply, done) => {
		const seen: Seen = { startMs: nowMs(), startedAt: performance.now(), code: "OK", span: undefined };
		requests.set(request, seen);
		const route = routeOf(request);
		metrics?.began(route);
		// Counted on close and not when the answer is sent, because a caller who leaves gets no answer. The event comes
		// only once, and `once` would use more memory.
		reply.raw.on("close", () => {
			const { method } = request;
			const { span, startedAt } = seen;
			// If the caller left, the answer that was about to be sent does not describe the outcome.
			const { status, code } = reply.raw.writableFinished
				? { status: reply.statusCode, code: seen.code }
				: { status: 499, code: "GONE" };
			metrics?.answered({ method, route, status, code, seconds: (performance.now() - startedAt) / 1_000 });
			span?.set({ "http.response.status_code": status, code });
			span?.end({ isError: status >= 500 });
		});
		done();
	});

	return {
		identified: (request) => {
			const seen = requests.get(request);
			if (!tracer || !seen) return;
			const { method } = request;
			const route = routeOf(request);
			seen.span = tracer.begin(`${method} ${route}`, {
				startMs: seen.startMs,
				attributes: { "http.request.method": method, "http.route": route, requestId: request.id },
				callersTrace: request.headers.traceparent,
			});
		},
		refused: (request, { code, details }) => {
			const seen = requests.get(request);
			if (seen) seen.code = code;
			if (code !== "RATE_LIMITED") return;
			metrics?.rateLimited(String((details as { reason?: unknown } | undefined)?.reason ?? "rate"));
		},
		spanOf: (request) => requests.get(request)?.span,
	};
}

function routeOf({ is404, routeOptions }: FastifyRequest): string {
	return is404 ? "none" : (routeOptions.url ?? "none");
}
