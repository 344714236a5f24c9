import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { type Metrics, startMetrics } from "./start-metrics.ts";

let metrics: Metrics;
let nowMs = 0;
afterEach(() => metrics.stop());

async function start(): Promise<void> {
	nowMs = 1_000_000;
	metrics = await startMetrics({
		host: "127.0.0.1",
		port: 0,
		nowMs: () => nowMs,
		log: pino({ level: "silent" }),
	});
}

async function scrape(): Promise<string[]> {
	const response = await fetch(metrics.url);
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
	return (await response.text()).split("\n");
}

const samplesOf = (lines: string[], name: string) => lines.filter((line) => line.startsWith(name));

test("counters and histograms are served in the exposition format, and nothing else is served", async () => {
	await start();
	const count = metrics.meter.counter("geoswap_things_total", "Things", [{ kind: "a" }]);
	count({ kind: 'b"\\' });
	metrics.meter.histogram("geoswap_seconds", "Time", [0.1, 1])(0.5, { route: "/x" });
	const lines = await scrape();
	expect(samplesOf(lines, "geoswap_things_total")).toEqual([
		'geoswap_things_total{kind="a"} 0',
		'geoswap_things_total{kind="b\\"\\\\"} 1',
	]);
	expect(lines).toContain("# HELP geoswap_things_total Things");
	expect(lines).toContain("# TYPE geoswap_seconds histogram");
	expect(lines).toContain('geoswap_seconds_bucket{route="/x",le="1"} 1');
	expect((await fetch(new URL("/", metrics.url))).status).toBe(404);
	expect((await fetch(metrics.url, { method: "POST" })).status).toBe(404);
});

test("a gauge shows only current series, so one that was not read this time is removed", async () => {
	await start();
	let chains = ["1", "2"];
	metrics.meter.reading({
		name: "chains",
		gauges: { geoswap_g: "G" },
		read: () => chains.map((chain) => ({ gauge: "geoswap_g", labels: { chain }, value: Number(chain) })),
	});
	expect(samplesOf(await scrape(), "geoswap_g{")).toEqual([
		'geoswap_g{chain="1"} 1',
		'geoswap_g{chain="2"} 2',
	]);
	chains = ["2"];
	expect(samplesOf(await scrape(), "geoswap_g{")).toEqual(['geoswap_g{chain="2"} 2']);
});

test("a reading that fails or times out is counted, and the others are still served", async () => {
	await start();
	let isBroken = true;
	metrics.meter.reading({
		name: "database",
		gauges: { geoswap_db: "D" },
		read: async () => {
			if (isBroken) throw new Error("no database");
			return [{ gauge: "geoswap_db", value: 1 }];
		},
	});
	metrics.meter.reading({ name: "slow", gauges: { geoswap_slow: "S" }, read: () => new Promise(() => {}) });
	metrics.meter.reading({
		name: "well",
		gauges: { geoswap_well: "W" },
		read: () => [{ gauge: "geoswap_well", value: 1 }],
	});
	const failures = async () => samplesOf(await scrape(), "geoswap_metrics_read_failures_total{");
	const lines = await scrape();
	expect(samplesOf(lines, "geoswap_db")).toEqual([]);
	expect(samplesOf(lines, "geoswap_slow")).toEqual([]);
	expect(samplesOf(lines, "geoswap_well ")).toEqual(["geoswap_well 1"]);
	expect(await failures()).toEqual(
		expect.arrayContaining([
			'geoswap_metrics_read_failures_total{reading="database"} 1',
			'geoswap_metrics_read_failures_total{reading="slow"} 1',
			'geoswap_metrics_read_failures_total{reading="well"} 0',
		]),
	);
	isBroken = false;
	expect(samplesOf(await scrape(), "geoswap_db ")).toEqual(["geoswap_db 1"]);
});

test("a reading is reused until its maximum age, regardless of the number of scrapes", async () => {
	await start();
	let reads = 0;
	metrics.meter.reading({
		name: "database",
		gauges: { geoswap_db: "D" },
		maxAgeMs: 5_000,
		read: async () => [{ gauge: "geoswap_db", value: ++reads }],
	});
	await Promise.all([scrape(), scrape(), scrape()]);
	nowMs += 4_999;
	await scrape();
	expect(reads).toBe(1);
	nowMs += 1;
	expect(samplesOf(await scrape(), "geoswap_db ")).toEqual(["geoswap_db 2"]);
});

test.each<[string, RegExp]>([
	["GET // HTTP/1.1\r\nhost: a", /^HTTP\/1.1 404 /],
	["GET http://[ HTTP/1.1\r\nhost: a", /^HTTP\/1.1 404 /],
	["OPTIONS * HTTP/1.1\r\nhost: a", /^HTTP\/1.1 404 /],
	["GET /metrics?x=//[ HTTP/1.1\r\nhost: a", /^HTTP\/1.1 200 /],
	["CONNECT a:1 HTTP/1.1\r\nhost: a", /^$/],
	["GET /metrics HTTP/1.1\r\nhost: a\r\nupgrade: x", /^HTTP\/1.1 200 /],
	["nonsense", /^HTTP\/1.1 400 /],
])("the process survives any request: %j", async (head, answer) => {
	await start();
	const { hostname, port } = new URL(metrics.url);
	const socket = connect(Number(port), hostname);
	await once(socket, "connect");
	socket.write(`${head}\r\nconnection: close\r\n\r\n`);
	expect(await text(socket)).toMatch(answer);
	await scrape();
});
