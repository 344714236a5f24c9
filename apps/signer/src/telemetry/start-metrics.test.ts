import { pino } from "pino";
import { expect, test } from "vitest";
import { startMetrics } from "./start-metrics.ts";

test("Prometheus gets known counters from the start, escaped labels, and no gauge whose reading fails", async () => {
	const log = pino({ level: "silent" });
	const { meter, url, stop } = await startMetrics({ host: "127.0.0.1", port: 0, log });
	try {
		const count = meter.counter("signed_total", "Signatures", [{ key: "a" }]);
		count({ key: 'b"\\\n' });
		count({ key: 'b"\\\n' });
		let isBroken = false;
		meter.reading({
			name: "caps",
			gauges: { spent_ratio: "Share that is used up" },
			read: () => {
				if (isBroken) throw new Error("the file is gone");
				return [{ gauge: "spent_ratio", labels: { meter: "m" }, value: 0.5 }];
			},
		});
		const scrape = async () => (await fetch(url)).text();
		expect(await scrape()).toBe(
			[
				"# HELP spent_ratio Share that is used up",
				"# TYPE spent_ratio gauge",
				'spent_ratio{meter="m"} 0.5',
				"# HELP geoswap_metrics_read_failures_total Failed readings of gauges. Their series are absent until a reading succeeds",
				"# TYPE geoswap_metrics_read_failures_total counter",
				'geoswap_metrics_read_failures_total{reading="caps"} 0',
				"# HELP signed_total Signatures",
				"# TYPE signed_total counter",
				'signed_total{key="a"} 0',
				'signed_total{key="b\\"\\\\\\n"} 2',
				"",
			].join("\n"),
		);
		isBroken = true;
		const failed = await scrape();
		expect(failed).not.toContain("spent_ratio");
		expect(failed).toContain('geoswap_metrics_read_failures_total{reading="caps"} 1');
		expect((await fetch(new URL("/", url))).status).toBe(404);
	} finally {
		stop();
	}
});
