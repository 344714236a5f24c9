import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configProblems } from "./config-problems.ts";

/**
 * Returns the configuration of a worker that listens at this URL only, and is called there by the engine. Workers that
 * share a file, as containers do, differ in nothing else. Throws if the worker cannot be run there.
 */
export function atWorkerUrl(config: Config, url: string): Config {
	const parsed = URL.parse(url);
	if (parsed?.protocol !== "http:" || !parsed.port || url.replace(/\/$/, "") !== parsed.origin) {
		throw new ConfigError("--url", `${url} is not of the form http://host:port`);
	}
	const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
	const worker = { ...config.worker, host, port: Number(parsed.port), publicUrl: parsed.origin };
	const moved = { ...config, worker };
	const problems = configProblems(moved);
	if (problems.length > 0) throw new ConfigError("--url", problems.join("\n"));
	return moved;
}
