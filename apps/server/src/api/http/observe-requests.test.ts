import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { SwapError } from "@geoswap/protocol";
import { type FastifyInstance, fastify } from "fastify";
import { afterEach, expect, test, vi } from "vitest";
import { keepSpans } from "../../../test/telemetry/keep-spans.ts";
import type { AnsweredRequest, RequestMetrics } from "../../telemetry/request-metrics.ts";
import type { Tracer } from "../../telemetry/tracer.ts";
import { errorAnswer } from "./error-answer.ts";
import { observeRequests } from "./observe-requests.ts";

let app: FastifyInstance;
afterEach(() => app.close());

/** Starts a server with a route that needs a key, and uses the observer like the real one. */
function start({ tracer }: { tracer?: Tracer } = {}) {
	const answered: Omit<AnsweredRequest, "seconds">[] = [];
	const limited: string[] = [];
	let underWay = 0;
	const metrics: RequestMetrics = {
		began: () => underWay++,
		answered: ({ seconds, ...request }) => {
			expect(seconds).toBeGreaterThanOrEqual(0);
			underWay--;
			answered.push(request);
		},
		rateLimited: (reason) => limited.push(reason),
	};
	app = fastify({ genReqId: () => "request-1" });
	const observer = observeRequests(app, { tracer, metrics, nowMs: Date.now });
	app.addHook("onRequest", async (request) => {
		if (request.is404) throw new SwapError("NOT_FOUND", undefined);
		if (request.headers["x-api-key"] === undefined) throw new SwapError("UNAUTHORIZED", undefined);
		observer.identified(request);
	});
	app.get("/swap/status/:swapId", async (request) => {
		observer.spanOf(request)?.set({ swapId: "swp_1" });
		return {};
	});
	app.get("/held", async (_, reply) => {
		await once(reply.raw, "close");
		return {};
	});
	app.get("/limited", async () => {
		throw new SwapError("RATE_LIMITED", { reason: "gas_budget" });
	});
	app.setErrorHandler((error, request, reply) => {
		const { status, body } = errorAnswer(error, { requestId: request.id });
		observer.refused(request, body);
		return reply.code(status).send(body);
	});
	return { answered, limited, underWay: () => underWay };
}

const key = { "x-api-key": "a secret" };

/** Calls over a real connection, because only that shows who left. */
async function call(path: string, headers: Record<string, string> = {}): Promise<void> {
	const response = await fetch(`${await listen()}${path}`, { headers });
	await response.arrayBuffer();
}

async function listen(): Promise<string> {
	if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
	return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

test("every request is counted by its route and code, and none stays counted as in flight", async () => {
	const { answered, limited, underWay } = start();
	await call("/swap/status/swp_42?key=a", key);
	await call("/swap/status/swp_42");
	await call("/nothing/here");
	await call("/limited", key);
	await vi.waitFor(() => expect(underWay()).toBe(0));
	const get = { method: "GET" };
	expect(answered).toEqual([
		{ ...get, route: "/swap/status/:swapId", status: 200, code: "OK" },
		{ ...get, route: "/swap/status/:swapId", status: 401, code: "UNAUTHORIZED" },
		{ ...get, route: "none", status: 404, code: "NOT_FOUND" },
		{ ...get, route: "/limited", status: 429, code: "RATE_LIMITED" },
	]);
	expect(limited).toEqual(["gas_budget"]);
});

test("a request with a key gets a span, one without a key gets none, and no span contains a key", async () => {
	const { tracer, spans } = keepSpans();
	const { answered } = start({ tracer });
	const trace = "0af7651916cd43dd8448eb211c80319c";
	const traceparent = `00-${trace}-b7ad6b7169203331-01`;
	await call("/swap/status/swp_42?geoQuoteToken=secret", { ...key, traceparent });
	await call("/swap/status/swp_42", { traceparent });
	await vi.waitFor(() => expect(answered).toHaveLength(2));
	const kept = await spans();
	expect(kept).toMatchObject([{ name: "GET /swap/status/:swapId", links: [trace], parentId: undefined }]);
	expect(kept[0]?.attributes).toEqual({
		"http.request.method": "GET",
		"http.route": "/swap/status/:swapId",
		"http.response.status_code": 200,
		requestId: "request-1",
		swapId: "swp_1",
		code: "OK",
	});
	expect(JSON.stringify(kept)).not.toContain("secret");
});

test("without metrics and tracing a request gets no span and no listener", async () => {
	const listeners = async (tracer?: Tracer) => {
		app = fastify();
		const observer = observeRequests(app, { tracer, metrics: undefined, nowMs: Date.now });
		app.get("/", async (request, reply) => {
			observer.identified(request);
			return { span: observer.spanOf(request) ?? "none", listeners: reply.raw.listenerCount("close") };
		});
		return (await app.inject({ url: "/" })).json();
	};
	const off = await listeners();
	await app.close();
	const on = await listeners(keepSpans().tracer);
	expect(off).toEqual({ span: "none", listeners: on.listeners - 1 });
});

test("a caller who leaves before the response is counted as gone and not as a success", async () => {
	const { tracer, spans } = keepSpans();
	const { answered, underWay } = start({ tracer });
	const { port } = new URL(await listen());
	const caller = connect(Number(port), "127.0.0.1");
	caller.write("GET /held HTTP/1.1\r\nhost: a\r\nx-api-key: a\r\n\r\n");
	await vi.waitFor(() => expect(underWay()).toBe(1));
	caller.destroy();
	await vi.waitFor(() => expect(underWay()).toBe(0));
	expect(answered).toEqual([{ method: "GET", route: "/held", status: 499, code: "GONE" }]);
	expect(await spans()).toMatchObject([
		{ attributes: { "http.response.status_code": 499, code: "GONE" }, isError: false },
	]);
	await call("/swap/status/swp_1", key);
	await vi.waitFor(() => expect(answered.at(-1)).toMatchObject({ status: 200, code: "OK" }));
});
