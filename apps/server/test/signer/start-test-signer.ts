import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@geoswap/keys/backend/backend";
import { memoryDigestKey, memoryMessageKey } from "@geoswap/keys/backend/memory-key";
import { openRemote } from "@geoswap/keys/backend/remote";
import { createRemoteClient, type RemoteClient } from "@geoswap/keys/backend/remote-client";
import { evmSignerOf } from "@geoswap/keys/evm-signer-of";
import { solanaSignerOf } from "@geoswap/keys/solana-signer-of";
import { type Deployment, formatDeployment } from "@geoswap/protocol";
import { makeCertificates } from "@geoswap/signer/certificates/make-certificates";
import type { KeyOpener } from "@geoswap/signer/open-signing-keys";
import { readSignerConfig } from "@geoswap/signer/signer-config";
import { startRemoteSigner } from "@geoswap/signer/start-remote-signer";
import { createLog } from "../../src/telemetry/log.ts";

export type TestSigner = {
	folder: string;
	url: string;
	/** The lines of the audit log. */
	lines: Record<string, unknown>[];
	/** Connects with the certificate of this name. */
	clientOf: (name: string, options?: { timeoutMs?: number; url?: string }) => RemoteClient;
	backendOf: (name: string) => Backend;
	/** Ends the signer without closing anything, and starts it again on the same files. */
	restart: () => Promise<void>;
	stop: () => Promise<void>;
};

/** A cap that no test reaches. */
export const noCap = { perHour: String(10n ** 30n), perDay: String(10n ** 30n) };

/** Starts a remote signer with keys in memory, on its own files, for the clients `worker`, `attester` and `other`. */
export async function startTestSigner({
	deployment,
	secrets,
	config,
	nowMs = Date.now,
	isBroken = () => false,
}: {
	deployment: Deployment;
	/** The 32 bytes of each key, by its variable in the configuration. */
	secrets: Record<string, Uint8Array>;
	config: Record<string, unknown>;
	nowMs?: () => number;
	/** Returns true while the place that holds the keys fails. */
	isBroken?: () => boolean;
}): Promise<TestSigner> {
	const folder = await mkdtemp(join(tmpdir(), "geoswap-signer-"));
	const clients = ["worker", "attester", "other"];
	await makeCertificates({ folder, servers: ["127.0.0.1"], clients, days: 10 });
	await writeFile(join(folder, "deployment.json"), formatDeployment(deployment));
	const tls = { certificateFile: "server.pem", keyFile: "server-key.pem", clientCaFile: "ca.pem" };
	const file = { deployment: "deployment.json", state: "state.sqlite", port: 0, tls, ...config };
	const path = join(folder, "signer.json");
	await writeFile(path, JSON.stringify(file));
	const lines: Record<string, unknown>[] = [];
	const log = createLog({ level: "info", process: "signer", write: (line) => lines.push(JSON.parse(line)) });
	const bytesOf = (reference: string) => {
		const secret = secrets[reference.replace("env:", "")];
		if (!secret) throw new Error(`the test has no key ${reference}`);
		return secret;
	};
	const opener: KeyOpener = {
		openEvm: async (reference) => {
			const signer = evmSignerOf(memoryDigestKey({ reference, backend: "env" }, bytesOf(reference)));
			const sign: typeof signer.sign = async (payload, options) => {
				if (isBroken()) throw new Error("the device was removed");
				return signer.sign(payload, options);
			};
			return { ...signer, sign };
		},
		openSolana: async (reference) =>
			solanaSignerOf(memoryMessageKey({ reference, backend: "env" }, bytesOf(reference))),
	};
	const start = () =>
		startRemoteSigner({ config: readSignerConfig(path), opener, rereadCertificatesMs: 50, nowMs, log });
	let running = await start();
	const connections: RemoteClient[] = [];
	const clientOf: TestSigner["clientOf"] = (name, { timeoutMs = 30_000, url = running.url } = {}) => {
		const files = {
			caFile: join(folder, "ca.pem"),
			certificateFile: join(folder, `${name}.pem`),
			keyFile: join(folder, `${name}-key.pem`),
		};
		const client = createRemoteClient({ url, ...files, timeoutMs });
		connections.push(client);
		return client;
	};
	return {
		folder,
		get url() {
			return running.url;
		},
		lines,
		clientOf,
		backendOf: (name) => openRemote(clientOf(name)),
		restart: async () => {
			for (const client of connections.splice(0)) client.close();
			await running.close();
			running = await start();
		},
		stop: async () => {
			for (const client of connections) client.close();
			await running.close();
			await rm(folder, { recursive: true });
		},
	};
}
