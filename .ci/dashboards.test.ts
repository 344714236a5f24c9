import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dashboardFiles } from "../deploy/grafana/generate.ts";

const root = join(import.meta.dirname, "..");

test.each([...dashboardFiles()])(
	"deploy/grafana/%s is up to date, and its metrics are documented",
	(name, text) => {
		expect(
			readFileSync(join(root, "deploy/grafana", name), "utf8"),
			"run node deploy/grafana/generate.ts",
		).toBe(text);
		const metrics = [...text.matchAll(/\bgeoswap_[a-z_]+/g)].map(([metric]) =>
			metric.replace(/_(bucket|count|sum)$/, ""),
		);
		const documented = readFileSync(join(root, "docs/metrics.md"), "utf8");
		expect([...new Set(metrics)].filter((metric) => !documented.includes(`\`${metric}\``))).toEqual([]);
	},
);
