import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Milliseconds } from "@geoswap/protocol";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { gaugeReadings } from "./gauge-readings.ts";
import type { Log } from "./log.ts";
import type { Meter } from "./meter.ts";

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
