import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Milliseconds } from "@geoswap/protocol";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { emptyResource } from "@opentelemetry/resources";
import {
	AggregationTemporality,
	DataPointType,
	type GaugeMetricData,
	InstrumentType,
	MeterProvider,
	type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { Log } from "./log.ts";
import type { Meter, Reading, Sample } from "./meter.ts";
import { within } from "./within.ts";

export type Metrics = { meter: Meter; url: string; stop: () => Promise<void> };

/** Starts metrics, and serves them to Prometheus at `GET /metrics`. */
export async function startMetrics({
	host,
	port,
	nowMs,
	log,
}: {
	host: string;
	port: number;
	nowMs: () => Milliseconds;
	log: Log;
}): Promise<Metrics> {
	const readings = gaugeReadings({
		nowMs,
		onFailure: ({ name, error }) => {
			countFailure({ reading: name });
			log.warn({ reading: name, err: error }, "metrics could not be read");
		},
	});
	const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [readings.producer] });
	const provider = new MeterProvider({ readers: [reader] });
	const otel = provider.getMeter("geoswap");
	const meter: Meter = {
		counter: (name, description, known = []) => {
			const counter = otel.createCounter(name, { description });
			for (const labels of known) counter.add(0, labels);
			return (labels = {}, by = 1) => counter.add(by, labels);
		},
		histogram: (name, description, bounds) => {
			const advice = { explicitBucketBoundaries: [...bounds] };
			const histogram = otel.createHistogram(name, { description, advice });
			return (value, labels = {}) => histogram.record(value, labels);
		},
		reading: (reading) => {
			readings.add(reading);
			countFailure({ reading: reading.name }, 0);
		},
	};
	const countFailure = meter.counter(
		"geoswap_metrics_read_failures_total",
		"Failed readings of gauges. Their series are absent until a reading succeeds",
	);

	const serializer = new PrometheusSerializer("", false, undefined, true, true);
	const server = createServer((request, response) => {
		// The path is not parsed as a URL, because an invalid one would throw here, where nothing catches it.
		if (request.url?.split("?")[0] !== "/metrics" || request.method !== "GET") {
			response.writeHead(404).end();
			return;
		}
		reader
			.collect()
			.then(({ resourceMetrics }) => {
				const text = serializer.serialize(resourceMetrics);
				response.setHeader("content-type", "text/plain; version=0.0.4; charset=utf-8");
				response.end(`${text}\n`);
			})
			.catch((err: unknown) => {
				log.error({ err }, "metrics could not be collected");
				response.writeHead(500).end();
			});
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, resolve);
	});
	// The server keeps no process alive, so that one that fails to start for another reason ends.
	server.unref();
	return {
		meter,
		url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
		stop: async () => {
			server.close();
			server.closeAllConnections();
			await provider.shutdown();
		},
	};
}

/** Milliseconds that a scrape waits for a reading. After that it omits the reading. */
const readTimeoutMs = 3_000;

/**
 * Provides gauges with current values. The library's own gauges keep every series forever, so that a chain that is
 * gone, or a database that does not answer, would keep its last value.
 */
function gaugeReadings({
	nowMs,
	onFailure,
}: {
	nowMs: () => Milliseconds;
	onFailure: (failed: { name: string; error: unknown }) => void;
}): { add: (reading: Reading) => void; producer: MetricProducer } {
	const readings: (() => Promise<GaugeMetricData[]>)[] = [];
	return {
		add: (reading) => {
			const read = rememberFor(reading, nowMs);
			readings.push(async () => {
				try {
					return gaugesOf(reading, await within(readTimeoutMs, read()), nowMs());
				} catch (error) {
					onFailure({ name: reading.name, error });
					return [];
				}
			});
		},
		producer: {
			collect: async () => ({
				resourceMetrics: {
					resource: emptyResource(),
					scopeMetrics: [
						{
							scope: { name: "geoswap" },
							metrics: (await Promise.all(readings.map((read) => read()))).flat(),
						},
					],
				},
				errors: [],
			}),
		},
	};
}

/** Runs one read at a time for all scrapes. A failed read is tried again at the next scrape. */
function rememberFor({ read, maxAgeMs = 0 }: Reading, nowMs: () => Milliseconds): () => Promise<Sample[]> {
	let last: { samples: Promise<Sample[]>; atMs: Milliseconds; isUnderWay: boolean } | undefined;
	return () => {
		if (last && (last.isUnderWay || nowMs() - last.atMs < maxAgeMs)) return last.samples;
		const samples = Promise.resolve().then(read);
		const reading = { samples, atMs: nowMs(), isUnderWay: true };
		last = reading;
		samples.then(
			() => {
				reading.isUnderWay = false;
			},
			() => {
				if (last === reading) last = undefined;
			},
		);
		return samples;
	};
}

function gaugesOf({ gauges }: Reading, samples: readonly Sample[], nowMs: Milliseconds): GaugeMetricData[] {
	const time: [number, number] = [Math.floor(nowMs / 1_000), (nowMs % 1_000) * 1_000_000];
	return Object.entries(gauges).map(([name, description]) => ({
		descriptor: {
			name,
			description,
			unit: "",
			type: InstrumentType.OBSERVABLE_GAUGE,
			valueType: 1,
			advice: {},
		},
		aggregationTemporality: AggregationTemporality.CUMULATIVE,
		dataPointType: DataPointType.GAUGE,
		dataPoints: samples
			.filter(({ gauge }) => gauge === name)
			.map(({ labels = {}, value }) => ({ startTime: time, endTime: time, attributes: labels, value })),
	}));
}
