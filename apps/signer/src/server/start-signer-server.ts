import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { payloadSchema } from "@geoswap/keys/payload";
import * as z from "zod";
import type { Signing } from "../create-signing.ts";
import { Refusal } from "../policy/refusal.ts";
import type { Log } from "../telemetry/log.ts";
import type { Certificates } from "./read-certificates.ts";

/** More bytes than any transaction of a lane has. A bundle of 20 ops is about 60 KB of hex. */
const bodyLimitBytes = 512 * 1024;
/** Milliseconds within which a client must have sent its request. */
const requestTimeoutMs = 10_000;

export type SignerServer = {
	url: string;
	/** Uses other certificates from now on. Clients connect again, and are checked by the new authority. */
	useCertificates: (certificates: Certificates) => void;
	/** Returns when the certificates of the clients that have connected expire. */
	clientExpiries: () => { name: string; expiresAtMs: number }[];
	close: () => Promise<void>;
};

type Answer = { status: number; body: unknown };
/** A request of a client that is about one key. */
type KeyRequest = { client: string; key: string; request: IncomingMessage };

/** Serves the remote signer, over TLS 1.3 and only to clients with a certificate of the configured authority. */
export async function startSignerServer({
	signing,
	certificates,
	host,
	port,
	nowMs,
	log,
}: {
	signing: Signing;
	certificates: Certificates;
	host: string;
	port: number;
	nowMs: () => number;
	log: Log;
}): Promise<SignerServer> {
	const clients = new Map<string, number>();
	const server = createServer(
		{
			...certificates.context,
			minVersion: "TLSv1.3",
			requestCert: true,
			rejectUnauthorized: true,
			requestTimeout: requestTimeoutMs,
		},
		(request, response) => void handle(request, response),
	);
	// Longer than the pauses of a worker, so that it seldom has to connect again.
	server.keepAliveTimeout = 65_000;
	server.on("tlsClientError", (error, socket) =>
		log.warn(
			{ from: socket.remoteAddress, problem: error.message },
			"a connection without a valid certificate was refused",
		),
	);
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, resolve);
	});

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { status, body } = await answer(request).catch((error: unknown): Answer => {
			log.error({ err: error }, "the request failed");
			return { status: 500, body: problem("failed", "the signer's log has the reason") };
		});
		if (response.destroyed) return;
		const text = JSON.stringify(body);
		response.writeHead(status, {
			"content-type": "application/json",
			"content-length": Buffer.byteLength(text),
		});
		response.end(text);
	}

	async function answer(request: IncomingMessage): Promise<Answer> {
		const client = clientOf(request);
		if (client === undefined)
			return { status: 401, body: problem("not-allowed", "the certificate has no name, or has expired") };
		const { method, url = "" } = request;
		if (method === "GET" && url === "/health") return { status: 200, body: { ok: true } };
		if (method === "GET" && url === "/keys") return { status: 200, body: signing.keysOf(client) };
		const [, path, key] = (method === "POST" && /^\/(sign|check)\/([\w.-]+)$/.exec(url)) || [];
		if (key === undefined)
			return {
				status: 404,
				body: problem("not-found", "there are /sign/KEY, /check/KEY, /keys and /health"),
			};
		return path === "sign" ? sign({ client, key, request }) : check({ client, key, request });
	}

	async function check({ client, key, request }: KeyRequest): Promise<Answer> {
		await readBody(request);
		return orRefused(async () => {
			await signing.check({ client, key });
			return { ok: true };
		});
	}

	async function sign({ client, key, request }: KeyRequest): Promise<Answer> {
		const text = await readBody(request);
		if (text === undefined)
			return { status: 413, body: problem("malformed", `a payload has at most ${bodyLimitBytes} bytes`) };
		const parsed = payloadSchema.safeParse(parseJson(text));
		if (!parsed.success) {
			log.warn({ client, key, reason: "malformed" }, "refused");
			return { status: 400, body: problem("malformed", z.prettifyError(parsed.error)) };
		}
		return orRefused(async () => ({ signature: await signing.sign({ client, key, payload: parsed.data }) }));
	}

	/** Returns the result as a response, or states why there is none. */
	async function orRefused(act: () => Promise<unknown>): Promise<Answer> {
		try {
			return { status: 200, body: await act() };
		} catch (error) {
			if (!(error instanceof Refusal))
				return { status: 503, body: problem("failed", "the key's backend did not sign") };
			return { status: statusOf(error), body: problem(error.reason, error.message) };
		}
	}

	/** Returns the name in the client's certificate; undefined if it has expired since the client connected. */
	function clientOf({ socket }: IncomingMessage): string | undefined {
		const { subject, valid_to } = (socket as TLSSocket).getPeerCertificate();
		const name: string | string[] | undefined = subject?.CN;
		const expiresAtMs = Date.parse(valid_to);
		if (typeof name !== "string" || !(expiresAtMs > nowMs())) return undefined;
		clients.set(name, expiresAtMs);
		return name;
	}

	return {
		url: `https://${host}:${(server.address() as AddressInfo).port}`,
		useCertificates: ({ context }) => {
			server.setSecureContext({ ...context, minVersion: "TLSv1.3" });
			// The connection of a client that the new authority does not certify must not continue.
			server.closeAllConnections();
		},
		clientExpiries: () =>
			[...clients].map(([name, expiresAtMs]) => ({ name: `client/${name}`, expiresAtMs })),
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeIdleConnections();
			}),
	};
}

function statusOf({ reason, isPassing }: Refusal): number {
	if (reason === "not-allowed") return 401;
	return isPassing ? 429 : 403;
}

function problem(reason: string, message: string): { reason: string; message: string } {
	return { reason, message };
}

/** Returns the request's body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
	const parts: Buffer[] = [];
	let size = 0;
	for await (const part of request) {
		size += (part as Buffer).length;
		// The rest is read and discarded, because a client that is still sending would not read a response.
		if (size <= bodyLimitBytes) parts.push(part as Buffer);
	}
	return size > bodyLimitBytes ? undefined : Buffer.concat(parts).toString("utf8");
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
