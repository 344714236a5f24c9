type Labels = Readonly<Record<string, string>>;

/** One value of a gauge. */
export type Sample = { gauge: string; labels?: Labels; value: number };

/** Gauges that are read together at a scrape. */
type Reading = {
	/** Label for the counter of failed readings. */
	name: string;
	/** The description of each gauge, by name. */
	gauges: Readonly<Record<string, string>>;
	read: () => Sample[];
};

/** Counts, and reads gauges for Prometheus. Labels never contain an order, a wallet or a key. */
export type Meter = {
	/** Known series exist from the start, at zero, so that a rate is right from the first event. */
	counter: (name: string, help: string, known?: readonly Labels[]) => (labels: Labels) => void;
	reading: (reading: Reading) => void;
	/** Returns all series in the text format of Prometheus. */
	text: () => string;
};

type Counter = { name: string; help: string; values: Map<string, number> };

/** Creates a meter. A reading that throws is counted by `onFailure`, and its series are absent. */
export function createMeter({
	onFailure,
}: {
	onFailure: (failed: { name: string; error: unknown }) => void;
}): Meter {
	const counters: Counter[] = [];
	const readings: Reading[] = [];

	function counter(name: string, help: string, known: readonly Labels[] = []): (labels: Labels) => void {
		const values = new Map(known.map((labels) => [series(name, labels), 0]));
		counters.push({ name, help, values });
		return (labels) => {
			const one = series(name, labels);
			values.set(one, (values.get(one) ?? 0) + 1);
		};
	}
	const failures = "geoswap_metrics_read_failures_total";
	const countFailure = counter(
		failures,
		"Failed readings of gauges. Their series are absent until a reading succeeds",
	);
	const failureValues = counters[0]?.values;

	function read({ name, gauges, read: readNow }: Reading): string[] {
		try {
			const samples = readNow();
			return Object.entries(gauges).flatMap(([gauge, help]) => [
				...head(gauge, help, "gauge"),
				...samples
					.filter((one) => one.gauge === gauge)
					.map(({ labels = {}, value }) => `${series(gauge, labels)} ${value}`),
			]);
		} catch (error) {
			countFailure({ reading: name });
			onFailure({ name, error });
			return [];
		}
	}

	return {
		counter,
		reading: (reading) => {
			readings.push(reading);
			failureValues?.set(series(failures, { reading: reading.name }), 0);
		},
		text: () => {
			const gauges = readings.flatMap(read);
			const counts = counters.flatMap(({ name, help, values }) => [
				...head(name, help, "counter"),
				...[...values].map(([one, value]) => `${one} ${value}`),
			]);
			return `${[...gauges, ...counts].join("\n")}\n`;
		},
	};
}

function head(name: string, help: string, type: "counter" | "gauge"): string[] {
	return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
}

function escapeHelp(help: string): string {
	return help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function series(name: string, labels: Labels): string {
	const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeValue(value)}"`);
	return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
	return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
