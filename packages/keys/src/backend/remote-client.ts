import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { ConfigError } from "../config/config-error.ts";
import type { KeySettings } from "../config/key-settings.ts";

type RemoteAnswer = { status: number; body: unknown };

/** A connection to the remote signer. It throws if there is no response. */
export type RemoteClient = {
	get: (path: string, options?: { signal?: AbortSignal | undefined }) => Promise<RemoteAnswer>;
	post: (
		path: string,
		body: unknown,
		options?: { signal?: AbortSignal | undefined },
	) => Promise<RemoteAnswer>;
	close: () => void;
};

/** Longer than any response of a signer. */
const bodyLimitBytes = 1024 * 1024;

/**
 * Creates a client that keeps its connections. After a failure it reads its certificates again, so that new files are
 * used without a restart.
 */
export function createRemoteClient({
	url,
	caFile,
	certificateFile,
	keyFile,
	timeoutMs,
}: NonNullable<KeySettings["remote"]> & { timeoutMs: number }): RemoteClient {
	let agent: Agent | undefined;

	function connect(): Agent {
		agent ??= new Agent({
			keepAlive: true,
			minVersion: "TLSv1.3",
			ca: read(caFile),
			cert: read(certificateFile),
			key: read(keyFile),
		});
		return agent;
	}

	function disconnect(): void {
		agent?.destroy();
		agent = undefined;
	}

	async function call(
		method: string,
		path: string,
		text: string,
		signal: AbortSignal,
	): Promise<RemoteAnswer> {
		try {
			return await send({ agent: connect(), url: new URL(path, url), method, text, signal });
		} catch (error) {
			disconnect();
			// The signer may just have closed an idle connection. A repeated request returns the same signature.
			if (signal.aborted || error instanceof ConfigError) throw error;
			return send({ agent: connect(), url: new URL(path, url), method, text, signal });
		}
	}

	const limited = (signal: AbortSignal | undefined) =>
		signal ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) : AbortSignal.timeout(timeoutMs);
	return {
		get: (path, { signal } = {}) => call("GET", path, "", limited(signal)),
		post: (path, body, { signal } = {}) => call("POST", path, JSON.stringify(body), limited(signal)),
		close: disconnect,
	};
}

function send({
	agent,
	url,
	method,
	text,
	signal,
}: {
	agent: Agent;
	url: URL;
	method: string;
	text: string;
	signal: AbortSignal;
}): Promise<RemoteAnswer> {
	return new Promise((resolve, reject) => {
		const headers =
			text === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
		const sent = request(url, { agent, method, headers, signal }, (response) => {
			const parts: Buffer[] = [];
			let size = 0;
			response.on("data", (part: Buffer) => {
				size += part.length;
				if (size > bodyLimitBytes) response.destroy(new Error("the answer is too long"));
				else parts.push(part);
			});
			response.on("error", reject);
			response.on("end", () => {
				try {
					resolve({
						status: response.statusCode ?? 0,
						body: JSON.parse(Buffer.concat(parts).toString("utf8")),
					});
				} catch {
					reject(new Error(`it answered ${response.statusCode} with something that is not JSON`));
				}
			});
		});
		sent.on("error", reject);
		sent.end(text);
	});
}

function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new ConfigError(path, (error as Error).message);
	}
}
