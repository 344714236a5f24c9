import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { shownAlerts } from "../apps/server/src/console/read/find-problems.ts";
import { alertCases } from "./alert-cases.ts";

// The rules are tried by Prometheus' own tools, because an alert that cannot fire looks exactly like a healthy service.

const deploy = join(import.meta.dirname, "../deploy");
const rulesFile = join(deploy, "alerts.yml");
const rules = readFileSync(rulesFile, "utf8");
const severities = new Map(
	rules
		.split("- alert: ")
		.slice(1)
		.map((rule) => [/^\w+/.exec(rule)?.[0] ?? "", /severity: (\w+)/.exec(rule)?.[1] ?? ""] as const),
);
const folder = mkdtempSync(join(tmpdir(), "geoswap-rules-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("every alert rule has a test case, and every test case has a rule", () => {
	expect(Object.keys(alertCases).toSorted()).toEqual([...severities.keys()].toSorted());
	expect([...severities.values()].filter((severity) => !["page", "ticket"].includes(severity))).toEqual([]);
});

test.each(Object.entries(shownAlerts))(
	"the console and the alert rule of %s have the same severity and the same limit",
	(name, shown) => {
		expect(severities.get(name)).toBe(shown.severity);
		const expression = rules.split(`- alert: ${name}\n`)[1]?.split(/^\s*(?:for|labels):/m)[0] ?? "";
		if ("limit" in shown)
			expect(expression.match(/(?<![\w.])[\d.]+(?![\w.])/g)).toContain(String(shown.limit));
	},
);

test("every alert fires with its labels when its cause occurs, and does not fire in the nearest normal state", async () => {
	const states = Object.entries(alertCases).flatMap(([name, { fires, quiet, ...rest }]) => [
		{ name, series: fires, isFiring: true, ...rest },
		{ name, series: quiet, isFiring: false, ...rest },
	]);
	const tests = withoutCommonMetrics(states).map((group) => ({
		interval: "1m",
		input_series: group.flatMap(({ series }) =>
			Object.entries(series).map(([name, values]) => ({ series: name, values })),
		),
		promql_expr_test: group.map(({ name, isFiring, labels = {}, atMinutes = 30 }) => ({
			expr: `ALERTS{alertname="${name}",alertstate="firing"}`,
			eval_time: `${atMinutes}m`,
			exp_samples: isFiring ? [{ labels: seriesOf({ name, labels }), value: 1 }] : [],
		})),
	}));
	const file = join(folder, "tests.yml");
	// Every JSON document is a YAML document.
	writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: "5m", tests }));
	await run("promtool", ["test", "rules", file]);
});

function seriesOf({ name, labels }: { name: string; labels: Readonly<Record<string, string>> }): string {
	const all = { alertname: name, alertstate: "firing", severity: severities.get(name), ...labels };
	return `ALERTS{${Object.entries(all).map(([label, value]) => `${label}="${value}"`)}}`;
}

/** Groups states whose rules read different metrics, because each group costs the tool a separate database. */
function withoutCommonMetrics<State extends { name: string }>(states: readonly State[]): State[][] {
	const groups: { states: State[]; metrics: Set<string> }[] = [];
	for (const state of states) {
		const metrics = metricsOf(state.name);
		const group = groups.find((one) => metrics.isDisjointFrom(one.metrics));
		if (!group) groups.push({ states: [state], metrics });
		else {
			group.states.push(state);
			group.metrics = group.metrics.union(metrics);
		}
	}
	return groups.map((group) => group.states);
}

function metricsOf(alert: string): Set<string> {
	const [rule = ""] = rules.split(`- alert: ${alert}\n`)[1]?.split("- alert: ") ?? [];
	const names = [...rule.matchAll(/\bgeoswap_\w+/g)].map(([name]) => name);
	return new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, "")));
}

test("Alertmanager accepts its configuration, and routes pages to the pager and tickets to the tracker", async () => {
	const file = join(deploy, "alertmanager.yml");
	await run("amtool", ["check-config", file]);
	for (const [severity, receiver] of [
		["page", "pager"],
		["ticket", "tracker"],
	]) {
		const routed = await run("amtool", [
			"config",
			"routes",
			"test",
			`--config.file=${file}`,
			`severity=${severity}`,
		]);
		expect(routed.trim()).toBe(receiver);
	}
});

test("every alert that an inhibition names exists", () => {
	const text = readFileSync(join(deploy, "alertmanager.yml"), "utf8");
	const names = [...text.matchAll(/alertname =~? "?(\w+)(?:\(([\w|]+)\)\w*)?"?/g)].flatMap(
		([, prefix = "", endings]) =>
			endings ? endings.split("|").map((ending) => `${prefix}${ending}`) : [prefix],
	);
	expect(names.length).toBeGreaterThan(50);
	expect(names.filter((name) => !severities.has(name))).toEqual([]);
});

/** Returns the program's output. Throws with it if the program fails. */
async function run(program: string, options: readonly string[]): Promise<string> {
	try {
		return (await promisify(execFile)(program, options)).stdout;
	} catch (error) {
		const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
		throw new Error(`${message}\n${stdout}${stderr}`);
	}
}
