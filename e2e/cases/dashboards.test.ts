import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseUnits } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { dashboards } from "../../deploy/grafana/dashboards.ts";
import { startPrometheus } from "../bad-days/start-prometheus.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { sharedEnvironment } from "../shared-environment.ts";

/** Panels that have nothing to show on a healthy devnet, and why. */
const empty = new Map([
	["Assets that are not quoted", "all are"],
	["Age of the seal key", "the devnet's is the first, which has no time"],
	["Caps of the remote signer", "the devnet has no remote signer"],
	["Next certificate expires", "the devnet has no remote signer"],
]);

test("every query of every dashboard returns data of a running service", async () => {
	const environment = sharedEnvironment();
	const { origin, destination, client, deployment: pins, metricsUrls } = environment;
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-dashboards-"));
	onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
	const prometheus = await startPrometheus({ dataDir, logDir: dataDir, metricsUrls });
	onTestFinished(prometheus.stop);

	const amount = parseUnits("10", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const from = { chain: origin, token: "USDC", amount };
	const { swap } = await doSwap(
		{ client, pins, account },
		swapIntent({ from, to: { chain: destination, token: "USDC" }, account }),
	);
	expect(swap.status).toBe("settled");

	const queries = Object.values(dashboards).flatMap(({ rows }) =>
		rows.flatMap(({ panels }) =>
			panels.flatMap((panel) => panel.queries.map(({ expr }) => ({ title: panel.title, expr }))),
		),
	);
	expect([...empty.keys()].filter((title) => !queries.some((query) => query.title === title))).toEqual([]);
	// A rate needs two scrapes, and a relayer's spending is read once a minute.
	await vi.waitFor(
		async () => {
			const answers = await Promise.all(
				queries.map(async ({ title, expr }) => ({ title, series: await ask(prometheus.url, expr) })),
			);
			const without = answers.filter(({ title, series }) => series === 0 && !empty.has(title));
			expect(without.map(({ title }) => title)).toEqual([]);
		},
		{ timeout: 120_000, interval: 5_000 },
	);
});

/** Returns how many series a query has returned since the test began. Grafana chooses the window of a rate. */
async function ask(url: string, expr: string): Promise<number> {
	const nowSeconds = Date.now() / 1_000;
	const asked = new URLSearchParams({
		query: expr.replaceAll("$__rate_interval", "2m"),
		start: String(nowSeconds - 300),
		end: String(nowSeconds),
		step: "2",
	});
	const response = await fetch(`${url}/api/v1/query_range?${asked}`);
	const { status, data, error } = (await response.json()) as {
		status: string;
		data?: { result: { values: [number, string][] }[] };
		error?: string;
	};
	if (status !== "success") throw new Error(`${expr}: ${error}`);
	return (data?.result ?? []).filter(({ values }) => values.some(([, text]) => text !== "NaN")).length;
}
