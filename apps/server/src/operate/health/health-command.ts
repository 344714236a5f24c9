import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { isIPv6 } from "node:net";
import { parseArgs } from "node:util";
import { readAttesterConfig } from "../../attester/attester-config.ts";
import { atWorkerUrl } from "../../config/at-worker-url.ts";
import { ConfigError } from "../../config/config-error.ts";
import { expectConsole } from "../../config/config-problems.ts";
import { type ProcessName, processNames } from "../../config/process-name.ts";
import { readConfig } from "../../config/read-config.ts";

const timeoutMs = 2_000;

/** Returns the exit code: 0 if the process on this machine reports that it is healthy, 1 if not. */
export async function healthCommand({
	process: named,
	config,
	url,
	ready: isForReady = false,
	json = false,
}: {
	/** Undefined for the main process of this container. */
	process: ProcessName | undefined;
	config: string;
	url?: string;
	ready?: boolean;
	json?: boolean;
}): Promise<number> {
	const asked = named ? { process: named, config, ...(url && { url }) } : { config, ...readFirstProcess() };
	const address = addressOf(asked.process, asked);
	const at = new URL(pathOf(asked.process, { isForReady }), address).href;
	// The worker's port speaks HTTP/2 only, which fetch does not.
	const problem = await (asked.process === "worker" ? askHttp2(at) : askHttp1(at));
	if (json) console.log(JSON.stringify({ process: asked.process, url: at, healthy: !problem, problem }));
	else if (problem) console.error(`${asked.process} at ${at}: ${problem}`);
	else console.log(`${asked.process} at ${at}: ok`);
	return problem ? 1 : 0;
}

function pathOf(name: ProcessName, { isForReady }: { isForReady: boolean }): string {
	if (name === "api") return isForReady ? "/ready" : "/health";
	return name === "audit" ? "/metrics" : "/health";
}

function addressOf(name: ProcessName, { config: path, url }: { config: string; url?: string }): string {
	const { host, port } = readAddress(name, { path, url });
	if (port === 0) throw new ConfigError(path, "the port is 0, which means any free one. Name a port");
	// A process that listens on all addresses is called on localhost.
	if (host === "0.0.0.0" || host === "::") return `http://localhost:${port}`;
	return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function readAddress(
	name: ProcessName,
	{ path, url }: { path: string; url: string | undefined },
): { host: string; port: number } {
	if (name === "attester") return readAttesterConfig(path);
	const config = readConfig(path);
	if (name === "api") return config.api;
	if (name === "audit") return config.audit.metrics ?? missingMetrics(path, "audit.metrics", 8_712);
	if (name === "console") return expectConsole(config, path).console;
	return url ? atWorkerUrl(config, url).worker : config.worker;
}

function missingMetrics(path: string, field: string, port: number): never {
	throw new ConfigError(
		path,
		`${field}: is missing. Add "metrics": { "port": ${port} }, where health is requested`,
	);
}

/** Returns the problem, or undefined if the answer is 200. */
async function askHttp1(url: string): Promise<string | undefined> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
		const body = await response.text();
		return response.status === 200 ? undefined : `answered ${response.status}: ${body}`;
	} catch (error) {
		return problemOf(error);
	}
}

/** Returns the problem, or undefined if the answer is 200. */
function askHttp2(url: string): Promise<string | undefined> {
	const { origin, pathname } = new URL(url);
	return new Promise((resolve) => {
		const session = connect(origin);
		const end = (problem: string | undefined) => {
			session.destroy();
			resolve(problem);
		};
		session.setTimeout(timeoutMs, () => end(`did not answer within ${timeoutMs} ms`));
		session.once("error", (error) => end(problemOf(error)));
		const stream = session.request({ ":path": pathname });
		stream.once("error", (error) => end(problemOf(error)));
		stream.once("response", ({ ":status": status }) =>
			end(status === 200 ? undefined : `answered ${status}`),
		);
		stream.end();
	});
}

function problemOf(error: unknown): string {
	const { cause, message, name } = error as Error;
	if (name === "TimeoutError") return `did not answer within ${timeoutMs} ms`;
	const { code } = (cause ?? error) as NodeJS.ErrnoException;
	return code ? `does not answer (${code})` : `does not answer: ${message}`;
}

/** A running process, according to its arguments. */
type FirstProcess = { process: ProcessName; config?: string; url?: string };

/**
 * Returns what this container runs. The first process of a container is that of its image's command, or an init
 * process whose arguments contain that command.
 */
export function readFirstProcess(path = "/proc/1/cmdline"): FirstProcess {
	const args = readFileSync(path, "utf8").split("\0").slice(0, -1);
	const start = args.findIndex((arg) => isProcessName(arg));
	const name = args[start];
	if (!isProcessName(name)) {
		throw new ConfigError(
			"process",
			`process 1 is none of ${processNames.join(", ")}. Name the process to check, as in geoswapd health api`,
		);
	}
	const { values } = parseArgs({
		args: args.slice(start + 1),
		options: { config: { type: "string" }, url: { type: "string" } },
		strict: false,
	});
	const { config, url } = values;
	return {
		process: name,
		...(typeof config === "string" && { config }),
		...(typeof url === "string" && { url }),
	};
}

function isProcessName(text: string | undefined): text is ProcessName {
	return processNames.some((name) => name === text);
}
