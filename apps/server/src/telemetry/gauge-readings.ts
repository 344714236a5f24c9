import type { Milliseconds } from "@geoswap/protocol";
import { emptyResource } from "@opentelemetry/resources";
import {
	AggregationTemporality,
	DataPointType,
	type GaugeMetricData,
	InstrumentType,
	type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { Reading, Sample } from "./meter.ts";
import { within } from "./within.ts";

/** Milliseconds that a scrape waits for a reading. After that it omits the reading. */
const readTimeoutMs = 3_000;

/**
 * Provides gauges with current values. The library's own gauges keep every series forever, so that a chain that is
 * gone, or a database that does not answer, would keep its last value.
 */
export function gaugeReadings({
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
