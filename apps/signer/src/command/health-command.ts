import { isIPv6 } from "node:net";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { readSignerConfig } from "../signer-config.ts";

const timeoutMs = 2_000;

/**
 * Returns the exit code: 0 if the signer on this machine serves its metrics, 1 if not. Its own port answers only
 * clients with a certificate.
 */
export async function healthCommand({
	config: path,
	json = false,
}: {
	config: string;
	json?: boolean;
}): Promise<number> {
	const { metrics } = readSignerConfig(path);
	if (!metrics) {
		throw new ConfigError(
			path,
			'metrics: is missing. Add "metrics": { "port": 9201 }: health is asked there',
		);
	}
	const { host, port } = metrics;
	if (port === 0) throw new ConfigError(path, "the port is 0, which means any free one. Name a port");
	// A process that listens on all addresses is called on localhost.
	const isAny = host === "0.0.0.0" || host === "::";
	const url = `http://${isAny ? "localhost" : isIPv6(host) ? `[${host}]` : host}:${port}/metrics`;
	const problem = await problemOf(url);
	if (json) console.log(JSON.stringify({ url, healthy: !problem, problem }));
	else if (problem) console.error(`signer at ${url}: ${problem}`);
	else console.log(`signer at ${url}: ok`);
	return problem ? 1 : 0;
}

/** Returns the problem, or undefined if the answer is 200. */
async function problemOf(url: string): Promise<string | undefined> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
		await response.text();
		return response.status === 200 ? undefined : `answered ${response.status}`;
	} catch (error) {
		const { cause, message, name } = error as Error;
		if (name === "TimeoutError") return `did not answer within ${timeoutMs} ms`;
		const { code } = (cause ?? error) as NodeJS.ErrnoException;
		return code ? `does not answer (${code})` : `does not answer: ${message}`;
	}
}
