/** One line of a scrape. */
type MetricSample = { name: string; labels: Record<string, string>; value: number };

export type MetricFamily = {
	help: string;
	type: "counter" | "gauge" | "histogram";
	samples: MetricSample[];
};

const namePattern = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const helpLine = new RegExp(`^# HELP (${namePattern}) (.+)$`);
const typeLine = new RegExp(`^# TYPE (${namePattern}) (counter|gauge|histogram)$`);
const sampleLine = new RegExp(
	`^(${namePattern})(?:\\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\]|\\\\["\\\\n])*",?)*)\\})? (\\S+)$`,
);
const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"/g;

/** Returns the families of a scrape, by name. Throws at the first line that violates the exposition format. */
export function parseMetrics(text: string): Map<string, MetricFamily> {
	if (!text.endsWith("\n")) throw new Error("the last line has no newline");
	const families = new Map<string, MetricFamily>();
	const seen = new Set<string>();
	let current: { name: string; help: string } | undefined;
	for (const line of text.split("\n")) {
		if (line === "") continue;
		const [, helpName, help] = helpLine.exec(line) ?? [];
		if (helpName && help) {
			if (families.has(helpName)) throw new Error(`${helpName} appears twice`);
			current = { name: helpName, help };
			continue;
		}
		const [, typeName, type] = typeLine.exec(line) ?? [];
		if (typeName) {
			if (current?.name !== typeName) throw new Error(`${typeName} has a type and no help`);
			families.set(typeName, { help: current.help, type: type as MetricFamily["type"], samples: [] });
			continue;
		}
		const sample = parseSample(line);
		const family = current && families.get(current.name);
		const base = family?.type === "histogram" ? sample.name.replace(/_(bucket|sum|count)$/, "") : sample.name;
		if (!family || base !== current?.name) throw new Error(`${line} is not in its own family`);
		const series = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
		if (seen.has(series)) throw new Error(`${line} appears twice`);
		seen.add(series);
		family.samples.push(sample);
	}
	for (const [name, family] of families) checkFamily(name, family);
	return families;
}

function parseSample(line: string): MetricSample {
	const [, name, labels = "", text = ""] = sampleLine.exec(line) ?? [];
	const value = text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text);
	if (!name || Number.isNaN(value)) throw new Error(`this is not a sample: ${line}`);
	return {
		name,
		labels: Object.fromEntries([...labels.matchAll(labelPattern)].map(([, key, quoted]) => [key, quoted])),
		value,
	};
}

function checkFamily(name: string, { type, samples }: MetricFamily): void {
	if ((type === "counter") !== name.endsWith("_total"))
		throw new Error(`${name} does not have the name of a ${type}`);
	if (type === "counter" && samples.some(({ value }) => value < 0)) throw new Error(`${name} counts down`);
	if (type !== "histogram") return;
	const counts = samples.filter((sample) => sample.name === `${name}_count`);
	for (const { labels, value } of counts) {
		const buckets = samples.filter(
			(sample) =>
				sample.name === `${name}_bucket` &&
				Object.entries(labels).every(([key, label]) => sample.labels[key] === label),
		);
		const values = buckets.map((bucket) => bucket.value);
		if (values.some((count, i) => count < (values[i - 1] ?? 0)))
			throw new Error(`${name} has falling buckets`);
		const last = buckets.at(-1);
		if (last?.labels.le !== "+Inf" || last.value !== value)
			throw new Error(`${name} has no complete last bucket`);
	}
}
