import { connect } from "node:http2";
import { isIPv6 } from "node:net";
import { readAttesterConfig } from "../../attester/attester-config.ts";
import { atWorkerUrl } from "../../config/at-worker-url.ts";
import { ConfigError } from "../../config/config-error.ts";
import { expectConsole } from "../../config/expect-console.ts";
import type { ProcessName } from "../../config/process-name.ts";
import { readConfig } from "../../config/read-config.ts";
import { readSignerConfig } from "../../signer/remote/signer-config.ts";
import { readFirstProcess } from "./read-first-process.ts";

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
	return name === "signer" || name === "audit" ? "/metrics" : "/health";
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
	if (name === "signer") return metricsOfSigner(path);
	const config = readConfig(path);
	if (name === "api") return config.api;
	if (name === "audit") return config.audit.metrics ?? missingMetrics(path, "audit.metrics", 8_712);
	if (name === "console") return expectConsole(config, path).console;
	return url ? atWorkerUrl(config, url).worker : config.worker;
}

/** Returns the metrics' address, because the signer's own port answers only clients with a certificate. */
function metricsOfSigner(path: string): { host: string; port: number } {
	return readSignerConfig(path).metrics ?? missingMetrics(path, "metrics", 9_201);
}

function missingMetrics(path: string, field: string, port: number): never {
	throw new ConfigError(
		path,
		`${field}: is missing. Add "metrics": { "port": ${port} }: health is asked there`,
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
	const { cause, message } = error as Error;
	const { code } = (cause ?? error) as NodeJS.ErrnoException;
	return code ? `does not answer (${code})` : `does not answer: ${message}`;
}
