/**
 * Measures the cost of traces and metrics per request: `node apps/server/bench/telemetry-cost.ts`. Sends the same
 * answer with its span and its counts, a great many times in one process, and compares it with the same answer without.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { requestMetrics } from "../src/telemetry/request-metrics.ts";
import { startMetrics } from "../src/telemetry/start-metrics.ts";
import { startTracing } from "../src/telemetry/start-tracing.ts";
import type { Tracer } from "../src/telemetry/tracer.ts";

const rounds = 40;
const perRound = 1_000;
const log = pino({ level: "silent" });

let arrived = 0;
const collector = createServer((request, response) => {
	text(request).then(
		(body) => {
			arrived += body.split('"traceId"').length - 1;
			response.writeHead(200, { "content-type": "application/json" }).end("{}");
		},
		() => response.destroy(),
	);
}).listen(0, "127.0.0.1");
await once(collector, "listening");
const tracesUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
const tracing = (sampleRatio: number) =>
	startTracing({ tracesUrl, sampleRatio, service: "bench", nowMs: Date.now, random: Math.random, log });
const metrics = await startMetrics({ host: "127.0.0.1", port: 0, nowMs: Date.now, log });
const counted = requestMetrics(metrics.meter);
const [all, some] = [tracing(1), tracing(0.01)];

const route = "/swap/quote";
function traced(tracer: Tracer): void {
	const span = tracer.begin("POST /swap/quote", {
		startMs: Date.now(),
		attributes: { "http.request.method": "POST", "http.route": route, requestId: "r" },
		callersTrace: undefined,
	});
	span?.set({ "http.response.status_code": 200, code: "OK" });
	span?.end({ isError: false });
}

const cases = {
	"metrics alone": () => {
		counted.began(route);
		counted.answered({ method: "POST", route, status: 200, code: "OK", seconds: 0.001 });
	},
	"span, every request": () => traced(all.tracer),
	"span, one of a hundred": () => traced(some.tracer),
};
for (const [name, run] of Object.entries(cases)) {
	const costsUs: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const cpuBefore = process.cpuUsage();
		for (let i = 0; i < perRound; i++) run();
		// The wait includes the cost of exporting the spans.
		await new Promise((resolve) => setTimeout(resolve, 100));
		const { user, system } = process.cpuUsage(cpuBefore);
		costsUs.push((user + system) / perRound);
	}
	const [median = 0] = costsUs.toSorted((a, b) => a - b).slice(rounds / 2);
	console.log(`${name}: ${median.toFixed(2)} µs of CPU each`);
}
await Promise.all([all.stop(), some.stop(), metrics.stop()]);
console.log(`${arrived} spans arrived of about ${Math.round(rounds * perRound * 1.01)}`);
collector.close();
collector.closeAllConnections();
