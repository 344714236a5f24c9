import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Dashboard, dashboards, type Panel } from "./dashboards.ts";

// Writes the dashboards as Grafana imports them: node deploy/grafana/generate.ts [--check]

/** Grafana's grid has 24 columns. */
const columns = 24;
const sizes = {
	timeseries: { w: 12, h: 8 },
	stat: { w: 4, h: 4 },
};
const datasource = { type: "prometheus", uid: "$datasource" };

/** Returns a dashboard in Grafana's own form. */
function grafanaDashboard({ uid, title, rows }: Dashboard): object {
	let y = 0;
	let id = 0;
	const panels: object[] = [];
	for (const row of rows) {
		panels.push({
			id: ++id,
			type: "row",
			title: row.title,
			gridPos: { x: 0, y: y++, w: columns, h: 1 },
			panels: [],
		});
		let x = 0;
		let height = 0;
		for (const panel of row.panels) {
			const { w, h } = sizes[panel.kind];
			if (x + w > columns) {
				y += height;
				[x, height] = [0, 0];
			}
			panels.push(grafanaPanel(panel, { id: ++id, gridPos: { x, y, w, h } }));
			x += w;
			height = Math.max(height, h);
		}
		y += height;
	}
	return {
		uid,
		title,
		tags: ["geoswap"],
		schemaVersion: 39,
		timezone: "utc",
		refresh: "30s",
		time: { from: "now-6h", to: "now" },
		templating: {
			list: [{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" }],
		},
		links: [{ type: "dashboards", tags: ["geoswap"], title: "Geoswap", asDropdown: true }],
		panels,
	};
}

function grafanaPanel(
	{ title, description, kind, unit = "short", queries, badFrom }: Panel,
	place: { id: number; gridPos: object },
): object {
	const steps = [
		{ color: "green", value: null },
		...(badFrom === undefined ? [] : [{ color: "red", value: badFrom }]),
	];
	return {
		...place,
		type: kind,
		title,
		description,
		datasource,
		fieldConfig: { defaults: { unit, thresholds: { mode: "absolute", steps } }, overrides: [] },
		targets: queries.map(({ expr, legend }, i) => ({
			refId: String.fromCharCode(65 + i),
			datasource,
			expr,
			legendFormat: legend,
			...(kind === "timeseries" ? {} : { instant: true }),
		})),
	};
}

/** Returns the text of each dashboard's file, by its name. */
export function dashboardFiles(): Map<string, string> {
	return new Map(
		Object.entries(dashboards).map(([name, dashboard]) => [
			`${name}.json`,
			`${JSON.stringify(grafanaDashboard(dashboard), undefined, "\t")}\n`,
		]),
	);
}

if (import.meta.main) {
	const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
	for (const [name, text] of dashboardFiles()) {
		const file = join(import.meta.dirname, name);
		if (!values.check) writeFileSync(file, text);
		else if (readFileSync(file, "utf8") !== text) {
			console.error(`${file} is not up to date: run node deploy/grafana/generate.ts`);
			process.exitCode = 1;
		}
	}
}
