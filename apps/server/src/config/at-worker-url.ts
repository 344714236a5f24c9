import { isIP } from "node:net";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configProblems } from "./config-problems.ts";

/**
 * Returns the configuration of a worker that the engine calls at this URL. Workers that share a file, as containers
 * do, differ in nothing else. The worker listens on the URL's port, and if the host is an address, on that address
 * only. A host name may resolve to an address in any of a container's networks. Throws if the worker cannot run
 * there.
 */
export function atWorkerUrl(config: Config, url: string): Config {
	const parsed = URL.parse(url);
	if (parsed?.protocol !== "http:" || !parsed.port || url.replace(/\/$/, "") !== parsed.origin) {
		throw new ConfigError("--url", `${url} is not of the form http://host:port`);
	}
	const named = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
	const host = isIP(named) ? named : config.worker.host;
	const worker = { ...config.worker, host, port: Number(parsed.port), publicUrl: parsed.origin };
	const moved = { ...config, worker };
	const problems = configProblems(moved);
	if (problems.length > 0) throw new ConfigError("--url", problems.join("\n"));
	return moved;
}
