import type { Milliseconds } from "@geoswap/protocol";

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

/** Gauges that are read together at a scrape. */
export type Reading = {
	/** Label for the counter of failed readings. */
	name: string;
	/** The description of each gauge, by name. */
	gauges: Readonly<Record<string, string>>;
	/** Milliseconds for which the last reading is reused. */
	maxAgeMs?: Milliseconds;
	read: () => Sample[] | Promise<Sample[]>;
};

/**
 * The project's interface to metrics. Labels are few and known: chains, tokens, routes, codes. They never contain a
 * swap, a wallet or a key.
 */
export type Meter = {
	/** Known series exist from the start, at zero, so that a rate is right from the first event. */
	counter: (name: string, help: string, known?: readonly Labels[]) => (labels?: Labels, by?: number) => void;
	histogram: (
		name: string,
		help: string,
		bounds: readonly number[],
	) => (value: number, labels?: Labels) => void;
	reading: (reading: Reading) => void;
};
