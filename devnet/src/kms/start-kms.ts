import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerAws, awsArn, type KmsAnswer } from "./answer-aws.ts";
import { answerGcp, gcpVersion } from "./answer-gcp.ts";
import type { KmsKey } from "./kms-keys.ts";

/** The stand-in's reaction to a call: answer, answer late, never answer, fail, or sign other bytes. */
export type KmsMood = "fine" | "hung" | "failing" | "lying" | { slowMs: number };

/** A stand-in for the key services of AWS and Google, with their formats and real cryptography. */
export type Kms = {
	url: string;
	mood: KmsMood;
	/** Number of requests for a signature. */
	signed: number;
	awsReference: (name: string) => `awskms:${string}`;
	gcpReference: (name: string) => `gcpkms:${string}`;
	/** Variables with which AWS's client signs its requests. */
	awsEnvironment: Record<string, string>;
	/**
	 * Variables with which Google's client requests a token from the stand-in, as it would from a Google machine's host.
	 */
	gcpEnvironment: Record<string, string>;
	stop: () => Promise<void>;
};

/** Starts the stand-in on a free port of this machine. */
export async function startKms({ keys, port = 0 }: { keys: readonly KmsKey[]; port?: number }): Promise<Kms> {
	const token = randomBytes(16).toString("hex");
	const open = new Set<ServerResponse>();

	async function answer(request: IncomingMessage, body: string): Promise<KmsAnswer> {
		const { url: path = "/", headers } = request;
		if (path.startsWith("/computeMetadata/")) return answerMetadata(path);
		const target = String(headers["x-amz-target"] ?? "");
		if (target.endsWith(".Sign") || path.endsWith(":asymmetricSign")) {
			kms.signed++;
			if (kms.mood === "failing")
				return { status: 503, body: { error: { code: 503, status: "UNAVAILABLE", message: "" } } };
			if (kms.mood === "hung") return new Promise(() => {});
			if (typeof kms.mood === "object") {
				const { slowMs } = kms.mood;
				await new Promise((resolve) => setTimeout(resolve, slowMs));
			}
		}
		// A service that lies signs with another key than the requested one.
		const used =
			kms.mood === "lying" ? keys.map((key) => ({ ...key, secret: key.secret.toReversed() })) : keys;
		if (target) return answerAws(used, { target, authorization: String(headers.authorization ?? ""), body });
		if (headers.authorization !== `Bearer ${token}`) {
			return {
				status: 401,
				body: { error: { code: 401, status: "UNAUTHENTICATED", message: "no valid token" } },
			};
		}
		return answerGcp(used, { path: decodeURIComponent(path), body });
	}

	function answerMetadata(path: string): KmsAnswer {
		if (!path.startsWith("/computeMetadata/v1/instance/service-accounts/default/token")) {
			return { status: 404, body: {} };
		}
		return { status: 200, body: { access_token: token, expires_in: 3600, token_type: "Bearer" } };
	}

	const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		open.add(response);
		response.once("close", () => open.delete(response));
		const parts: Buffer[] = [];
		for await (const part of request) parts.push(part as Buffer);
		const { status, body } = await answer(request, Buffer.concat(parts).toString());
		const headers = { "content-type": "application/json", "metadata-flavor": "Google" };
		response.writeHead(status, headers).end(JSON.stringify(body));
	};
	const server = createServer((request, response) => {
		respond(request, response).catch(() => response.destroy());
	});
	await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const kms: Kms = {
		url,
		mood: "fine",
		signed: 0,
		awsReference: (name) => `awskms:${awsArn(name)}`,
		gcpReference: (name) => `gcpkms:${gcpVersion(name)}`,
		awsEnvironment: { AWS_ACCESS_KEY_ID: "devnet", AWS_SECRET_ACCESS_KEY: "devnet" },
		gcpEnvironment: {
			GCE_METADATA_HOST: new URL(url).host,
			METADATA_SERVER_DETECTION: "assume-present",
		},
		stop: async () => {
			for (const response of open) response.destroy();
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
	return kms;
}
