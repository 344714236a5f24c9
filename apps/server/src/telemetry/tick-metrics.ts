import type { Meter } from "./meter.ts";

const objects = ["round", "lane", "attestation", "crossCheck"] as const;

export type TickMetrics = {
	/** Counts a tick that searched for due work, or failed to. */
	ticked: (outcome: "done" | "failed") => void;
	/** Counts a handler that a tick ran itself, since the engine had not. */
	ranHere: (object: (typeof objects)[number]) => void;
};

export function tickMetrics(meter: Meter): TickMetrics {
	const countTick = meter.counter("geoswap_ticks_total", "Ticks: how often a worker looked for due work", [
		{ outcome: "done" },
		{ outcome: "failed" },
	]);
	const countRun = meter.counter(
		"geoswap_tick_runs_total",
		"Runs that a tick made itself because the engine had not made them for two seconds",
		objects.map((object) => ({ object })),
	);
	return {
		ticked: (outcome) => countTick({ outcome }),
		ranHere: (object) => countRun({ object }),
	};
}
