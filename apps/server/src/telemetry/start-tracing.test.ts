import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { keepSpans } from "../../test/telemetry/keep-spans.ts";
import { startTracing } from "./start-tracing.ts";
import type { Attributes } from "./tracer.ts";

const theirs = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const callersTrace = `00-${theirs.traceId}-${theirs.spanId}-01`;
const now = () => Date.now();

test("spans can be added to a trace by its traceparent, in any order", async () => {
	const { tracer, spans } = keepSpans();
	const submit = tracer.begin("POST /swap/submit", { startMs: now(), attributes: { requestId: "r" } });
	tracer.record("opening", { parent: submit?.traceparent, startMs: now(), attributes: { fact: "opening" } });
	submit?.set({ swapId: "swp_1" });
	submit?.end();
	const [opening, first] = await spans();
	expect(first).toMatchObject({
		name: "POST /swap/submit",
		parentId: undefined,
		attributes: { swapId: "swp_1" },
	});
	expect(opening).toMatchObject({ name: "opening", traceId: first?.traceId, parentId: first?.spanId });
	expect(submit?.traceparent).toBe(`00-${first?.traceId}-${first?.spanId}-01`);
});

test("a caller's trace is linked and not continued, and an invalid one is ignored", async () => {
	const { tracer, spans } = keepSpans();
	for (const trace of [callersTrace, "nonsense", undefined]) {
		tracer.begin("GET /x", { startMs: now(), attributes: {}, callersTrace: trace })?.end();
	}
	const kept = await spans();
	expect(kept.map(({ links }) => links)).toEqual([[theirs.traceId], [], []]);
	expect(kept.every(({ traceId, parentId }) => traceId !== theirs.traceId && !parentId)).toBe(true);
});

test("a share of traces is kept completely, regardless of the caller's sampling flag, and nothing of the others", async () => {
	let drawn = 0;
	const { tracer, spans } = keepSpans({ sampleRatio: 0.25, random: () => (drawn++ % 100) / 100 });
	for (let i = 0; i < 200; i++) {
		const span = tracer.begin("POST /swap/submit", { startMs: now(), attributes: {}, callersTrace });
		tracer.record("opening", { parent: span?.traceparent, startMs: now(), attributes: {} });
		span?.end();
	}
	const kept = await spans();
	expect(kept.filter(({ name }) => name === "POST /swap/submit")).toHaveLength(50);
	expect(kept.filter(({ name }) => name === "opening")).toHaveLength(50);
});

test("attributes that are not listed are not sent, and long values are cut", async () => {
	const { tracer, spans } = keepSpans();
	const secrets = {
		signature: "0xsecret",
		geoOpToken: "secret",
		raw: "0xsecret",
		err: new Error("secret"),
		swapId: { token: "secret" },
		hash: "h".repeat(1_000),
	} as unknown as Attributes;
	const span = tracer.begin("POST /swap/submit", { startMs: now(), attributes: secrets });
	span?.set(secrets);
	tracer.record("opening", { parent: span?.traceparent, startMs: now(), attributes: secrets });
	span?.end({ isError: true });
	const kept = await spans();
	expect(kept).toHaveLength(2);
	for (const { attributes } of kept) expect(attributes).toEqual({ hash: "h".repeat(256) });
	expect(JSON.stringify(kept)).not.toContain("secret");
});

test("a collector gets spans as OTLP in JSON, including the last ones at shutdown", async () => {
	const bodies: string[] = [];
	const server = createServer((request, response) => {
		let body = "";
		request.setEncoding("utf8").on("data", (chunk: string) => {
			body += chunk;
		});
		request.on("end", () => {
			bodies.push(body);
			response.writeHead(200, { "content-type": "application/json" }).end("{}");
		});
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const { tracer, stop } = start(`http://127.0.0.1:${port}/v1/traces`, []);
	tracer.begin("GET /x", { startMs: now(), attributes: {} })?.end();
	await stop();
	server.close();
	expect(JSON.parse(bodies.join("")).resourceSpans[0].scopeSpans[0].spans[0].name).toBe("GET /x");
	expect(bodies.join("")).toContain("geoswapd test");
});

test("a collector that is down costs one log line, and delays nothing", async () => {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	server.close();
	await once(server, "close");
	const lines: string[] = [];
	const { tracer, stop } = start(`http://127.0.0.1:${port}/v1/traces?key=secret`, lines);
	// Far more spans than can be queued.
	for (let i = 0; i < 10_000; i++) tracer.begin("GET /x", { startMs: now(), attributes: {} })?.end();
	const stoppedAt = performance.now();
	await stop();
	expect(performance.now() - stoppedAt).toBeLessThan(4_500);
	expect(lines.length).toBeLessThanOrEqual(1);
	await vi.waitFor(() => expect(lines.join("")).toContain("traces were not delivered"), 10_000);
	expect(lines).toHaveLength(1);
	expect(lines[0]).not.toContain("secret");
});

function start(tracesUrl: string, lines: string[]) {
	return startTracing({
		tracesUrl,
		sampleRatio: 1,
		service: "geoswapd test",
		nowMs: now,
		random: Math.random,
		log: pino({ level: "warn" }, { write: (line: string) => lines.push(line) }),
	});
}
