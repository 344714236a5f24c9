import { expect, test } from "vitest";
import type { Meter } from "./meter.ts";
import { nodeMetrics } from "./node-metrics.ts";

test("each reason to stop using a node has a series at zero before it occurs, so that an alert notices the first time", () => {
	const series = new Map<string, number>();
	const meter: Meter = {
		counter:
			(name) =>
			(labels = {}, by = 1) => {
				const key = `${name} ${Object.values(labels).join(" ")}`;
				series.set(key, (series.get(key) ?? 0) + by);
			},
		histogram: () => () => {},
		reading: () => {},
	};
	const metrics = nodeMetrics(meter);
	const { signal } = new AbortController();
	metrics.watch(1, () => [{ host: "node", lag: 0, isInUse: true, isResting: false }], signal);
	const contradicts = "geoswap_node_rests_total 1 node contradicts";
	expect(series.get(contradicts)).toBe(0);
	expect(series.size).toBe(6);
	metrics.rested(1)({ host: "node", reason: "contradicts" });
	expect(series.get(contradicts)).toBe(1);
	expect(series.size).toBe(6);
});
