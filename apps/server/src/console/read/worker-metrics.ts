import type { Milliseconds } from "@geoswap/protocol";
import { cacheFor } from "./cache-for.ts";

export type MetricSample = { name: string; labels: Record<string, string>; value: number };

/** The figures that only workers and the audit have: nodes, relayers' gas and the last audit. */
export type WorkerMetrics = {
	samples: MetricSample[];
	/** The reasons why processes could not be read, without their addresses. Empty if all were read. */
	problems: string[];
};

const timeoutMs = 2_000;
/** Pages that are opened shortly after each other share a reading. */
const maxAgeMs = 5_000;
/** Far more than any process has. */
const maxBytes = 8_000_000;

/** Returns a function that reads the metrics of all workers and the audit, in the text format of Prometheus. */
export function createWorkerMetrics({
	urls,
	nowMs,
	fetchText = fetchMetrics,
}: {
	urls: readonly string[];
	nowMs: () => Milliseconds;
	fetchText?: (url: string) => Promise<string>;
}): () => Promise<WorkerMetrics> {
	return cacheFor(read, { maxAgeMs, nowMs });

	async function read(): Promise<WorkerMetrics> {
		if (urls.length === 0) {
			return { samples: [], problems: ["worker.metrics is not set in the configuration"] };
		}
		const answers = await Promise.allSettled(urls.map(fetchText));
		return {
			samples: answers.flatMap((answer) => (answer.status === "fulfilled" ? parseSamples(answer.value) : [])),
			problems: answers.flatMap((answer, i) =>
				answer.status === "rejected" ? [`no metrics from ${new URL(urls[i] ?? "").host}`] : [],
			),
		};
	}
}

async function fetchMetrics(url: string): Promise<string> {
	const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
	if (!response.ok) throw new Error(`${response.status}`);
	return (await response.text()).slice(0, maxBytes);
}

/** Parses lines like `name{label="value"} 1.5`. Other lines are skipped. */
function parseSamples(text: string): MetricSample[] {
	return text.split("\n").flatMap((line) => {
		const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
		if (!found) return [];
		const [, name = "", labels = "", value = ""] = found;
		return [{ name, labels: parseLabels(labels), value: Number(value) }];
	});
}

function parseLabels(text: string): Record<string, string> {
	return Object.fromEntries(
		[...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = "", value = ""]) => [
			name,
			value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped)),
		]),
	);
}

/** Returns the samples of a metric with these labels. */
export function samplesOf(
	{ samples }: WorkerMetrics,
	name: string,
	labels: Record<string, string> = {},
): MetricSample[] {
	return samples.filter(
		(one) =>
			one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
	);
}
