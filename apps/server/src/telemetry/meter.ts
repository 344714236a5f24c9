type Labels = Readonly<Record<string, string>>;

/** One value of a gauge. */
export type Sample<Gauge extends string = string> = { gauge: Gauge; labels?: Labels; value: number };

export function sample<Gauge extends string>(
	gauge: Gauge,
	value: number,
	labels: Labels = {},
): Sample<Gauge> {
	return { gauge, labels, value };
}

/** Gauges that are read together when somebody looks. */
export type Reading = {
	/** For the counter of readings that failed. */
	name: string;
	/** Each gauge's name, and what it says. */
	gauges: Readonly<Record<string, string>>;
	/** What was read before is given again for so long. */
	maxAgeMs?: number;
	read: () => Sample[] | Promise<Sample[]>;
};

/**
 * What our code sees of metrics. Labels are few and known: chains, tokens, routes, codes; never a swap, a wallet or a
 * key.
 */
export type Meter = {
	/** Those of the series that are known are there from the start, at zero: a rate is right from the first event. */
	counter: (name: string, help: string, known?: readonly Labels[]) => (labels?: Labels, by?: number) => void;
	histogram: (
		name: string,
		help: string,
		bounds: readonly number[],
	) => (value: number, labels?: Labels) => void;
	reading: (reading: Reading) => void;
};
