import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

/** The configuration of a service that has a console. */
export type ConsoleConfig = Omit<Config, "console"> & { console: NonNullable<Config["console"]> };

/** Throws if the configuration has no section for the console. */
export function expectConsole(config: Config, path: string): ConsoleConfig {
	const { console: section } = config;
	if (!section) {
		throw new ConfigError(path, 'console: is missing. Add "console": { "port": 9090 }: see docs/console.md');
	}
	return { ...config, console: section };
}

/** Returns the address that operators type into the browser. */
export function publicUrlOf({ console: { publicUrl, port } }: ConsoleConfig): string {
	return publicUrl ?? `http://localhost:${port}`;
}

/** Returns the addresses of the workers' and the audit's metrics. */
export function metricsUrlsOf({
	console: { workerMetricsUrls },
	worker,
	audit,
}: Pick<ConsoleConfig, "console" | "worker" | "audit">): string[] {
	if (workerMetricsUrls) return workerMetricsUrls;
	return [worker.metrics, audit.metrics].flatMap((metrics) =>
		metrics ? [`http://${metrics.host}:${metrics.port}/metrics`] : [],
	);
}
