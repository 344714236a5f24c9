import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { portSource } from "../devnet/src/stack/port-source.ts";
import { serviceProcess } from "../devnet/src/stack/service-process.ts";

// A real Alertmanager receives a cause and its consequences together. Only the cause may reach an operator.

type Alert = { alertname: string; [label: string]: string };

const folder = mkdtempSync(join(tmpdir(), "geoswap-alertmanager-"));
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
	const port = await portSource()();
	url = `http://127.0.0.1:${port}`;
	const server = serviceProcess({
		name: "alertmanager",
		command: "prometheus-alertmanager",
		args: [
			`--config.file=${join(import.meta.dirname, "../deploy/alertmanager.yml")}`,
			`--storage.path=${folder}`,
			`--web.listen-address=127.0.0.1:${port}`,
			"--cluster.listen-address=",
			"--log.level=error",
		],
		env: { PATH: process.env.PATH },
		logFile: join(folder, "alertmanager.log"),
		isReady: async () => (await fetch(`${url}/-/ready`)).ok,
	});
	await server.start();
	stop = server.stop;
});
afterAll(async () => {
	await stop();
	rmSync(folder, { recursive: true });
});

/** The cause, what it silences, and what it must not silence. */
const cases: { cause: Alert; silenced: Alert[]; heard: Alert[] }[] = [
	{
		cause: { alertname: "GeoswapNodesDown", chain: "1" },
		silenced: [
			{ alertname: "GeoswapFollowerBehind", chain: "1" },
			{ alertname: "GeoswapPricesOld", chain: "1" },
			{ alertname: "GeoswapSwapsStuck", stage: "deposited" },
		],
		heard: [
			{ alertname: "GeoswapPricesOld", chain: "2" },
			{ alertname: "GeoswapBooksBreached", chain: "1", invariant: "I1" },
		],
	},
	{
		cause: { alertname: "GeoswapDatabaseFull" },
		silenced: [
			{ alertname: "GeoswapDatabaseSilent" },
			{ alertname: "GeoswapSwapsOverdue" },
			{ alertname: "GeoswapServerErrors" },
		],
		heard: [{ alertname: "GeoswapLossBooked", chain: "3", token: "USDC" }],
	},
	{
		cause: { alertname: "GeoswapBooksBreached", chain: "4", invariant: "I1" },
		silenced: [{ alertname: "GeoswapChainPaused", chain: "4" }],
		heard: [{ alertname: "GeoswapChainPaused", chain: "5" }],
	},
	{
		cause: { alertname: "GeoswapInventoryEmpty", chain: "6", token: "USDC" },
		silenced: [
			{ alertname: "GeoswapInventoryLow", chain: "6", token: "USDC" },
			{ alertname: "GeoswapRefundsMany", chain: "6", destination: "6" },
		],
		heard: [{ alertname: "GeoswapInventoryLow", chain: "6", token: "USDT" }],
	},
];

test("an alert inhibits the alerts that follow from it on the same chain, and no others", async () => {
	const all = cases.flatMap(({ cause, silenced, heard }) => [cause, ...silenced, ...heard]);
	const response = await fetch(`${url}/api/v2/alerts`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(all.map((labels) => ({ labels: { severity: "page", ...labels } }))),
	});
	expect(response.status).toBe(200);
	const wanted = cases.flatMap(({ silenced }) => silenced).map(nameOf);
	await vi.waitFor(
		async () => {
			const alerts = (await (await fetch(`${url}/api/v2/alerts`)).json()) as {
				labels: Alert;
				status: { inhibitedBy: string[] };
			}[];
			expect(alerts).toHaveLength(all.length);
			const silent = alerts.filter(({ status }) => status.inhibitedBy.length > 0);
			expect(silent.map(({ labels }) => nameOf(labels)).toSorted()).toEqual(wanted.toSorted());
		},
		{ timeout: 30_000, interval: 200 },
	);
});

function nameOf({ alertname, chain = "", token = "" }: Alert): string {
	return `${alertname} ${chain} ${token}`;
}
