import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { portSource, serviceProcess } from "@geoswap/devnet";
import { shortenRules } from "./shorten-rules.ts";

type FiringAlert = { alertname: string; [label: string]: string };

export type Prometheus = {
	url: string;
	/** Returns the labels of the alerts that fire now. */
	firing: () => Promise<FiringAlert[]>;
	stop: () => Promise<void>;
};

/** A scrape may take as long as the slowest reading of a gauge, which times out after three seconds. */
const scrapeSeconds = 4;
const rulesFile = join(import.meta.dirname, "../../deploy/alerts.yml");

/** Starts the machine's Prometheus with the project's own rules, shortened. */
export async function startPrometheus({
	dataDir,
	logDir,
	metricsUrls,
}: {
	dataDir: string;
	logDir: string;
	metricsUrls: Record<string, string>;
}): Promise<Prometheus> {
	const folder = join(dataDir, "prometheus");
	mkdirSync(folder, { recursive: true });
	const port = await portSource()();
	const url = `http://127.0.0.1:${port}`;
	const rules = join(folder, "alerts.yml");
	writeFileSync(rules, shortenRules(readFileSync(rulesFile, "utf8")));
	const configFile = join(folder, "prometheus.yml");
	const interval = `${scrapeSeconds}s`;
	writeFileSync(
		configFile,
		JSON.stringify({
			global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: "1s" },
			rule_files: [rules],
			scrape_configs: Object.entries(metricsUrls).map(([job, metricsUrl]) => {
				const { host, pathname } = new URL(metricsUrl);
				return { job_name: job, metrics_path: pathname, static_configs: [{ targets: [host] }] };
			}),
		}),
	);
	const server = serviceProcess({
		name: "prometheus",
		command: "prometheus",
		args: [
			`--config.file=${configFile}`,
			`--storage.tsdb.path=${join(folder, "data")}`,
			`--web.listen-address=127.0.0.1:${port}`,
			"--log.level=warn",
		],
		env: { PATH: process.env.PATH },
		logFile: join(logDir, "prometheus.log"),
		isReady: async () => (await fetch(`${url}/-/ready`)).ok,
	});
	await server.start();
	return {
		url,
		firing: async () => {
			const response = await fetch(`${url}/api/v1/alerts`);
			const { data } = (await response.json()) as {
				data: { alerts: { labels: FiringAlert; state: string }[] };
			};
			return data.alerts.flatMap(({ labels, state }) => (state === "firing" ? [labels] : []));
		},
		stop: server.stop,
	};
}
