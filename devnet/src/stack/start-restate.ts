import { generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { identityKeyOf } from "./identity-key-of.ts";
import { isAnswering } from "./is-answering.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";

export type StackRestate = {
	ingressUrl: string;
	adminUrl: string;
	/** The engine's own metrics, in Prometheus' format. */
	metricsUrl: string;
	/** The public key of the engine's signing key, as a worker's configuration contains it. */
	identityKey: string;
	process: ServiceProcess;
	stop: () => Promise<void>;
};

/** Starts the engine, with an empty journal that lasts until the next start from this folder. */
export async function startRestate({
	dataDir,
	logFile,
	ports,
	onUnexpectedExit,
}: {
	dataDir: string;
	logFile: string;
	ports: { ingress: number; admin: number; node: number };
	onUnexpectedExit?: ((message: string) => void) | undefined;
}): Promise<StackRestate> {
	const folder = join(dataDir, "restate");
	rmSync(folder, { recursive: true, force: true });
	const configFile = join(dataDir, "restate.toml");
	const keyFile = join(dataDir, "restate-identity.pem");
	const identityKey = writeIdentityKey(keyFile);
	writeFileSync(configFile, restateConfig({ folder, keyFile, ports }));
	const ingressUrl = `http://127.0.0.1:${ports.ingress}`;
	const adminUrl = `http://127.0.0.1:${ports.admin}`;
	const server = serviceProcess({
		name: "restate",
		command: restateBinary(),
		args: ["--no-logo", "--config-file", configFile],
		env: { PATH: process.env.PATH, HOME: process.env.HOME },
		logFile,
		isReady: async () =>
			(await isAnswering(`${adminUrl}/health`)) && (await isAnswering(`${ingressUrl}/restate/health`)),
		onUnexpectedExit,
	});
	await server.start();
	const metricsUrl = `http://127.0.0.1:${ports.node}/metrics`;
	return { ingressUrl, adminUrl, metricsUrl, identityKey, process: server, stop: server.stop };
}

/** Writes a new private key for the engine to a file that only its owner reads. Returns the public key. */
function writeIdentityKey(keyFile: string): string {
	const { privateKey, publicKey } = generateKeyPairSync("ed25519");
	rmSync(keyFile, { force: true });
	writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
	return identityKeyOf(publicKey);
}

function restateConfig({
	folder,
	keyFile,
	ports,
}: {
	folder: string;
	keyFile: string;
	ports: { ingress: number; admin: number; node: number };
}): string {
	return `# By default it listens on every interface and sends telemetry.
bind-ip = "127.0.0.1"
bind-port = ${ports.node}
listen-mode = "tcp"
disable-telemetry = true
base-dir = ${JSON.stringify(folder)}
# The node finds its journal by this name.
node-name = "devnet"
# Each partition takes memory, and a laptop needs no more of them.
default-num-partitions = 4
rocksdb-total-memory-size = "256 MiB"
log-format = "json"
shutdown-timeout = "3s"
# A worker answers only requests that this key has signed.
request-identity-private-key-pem-file = ${JSON.stringify(keyFile)}

[ingress]
bind-port = ${ports.ingress}

[admin]
bind-port = ${ports.admin}

[worker.invoker]
# In the system's temporary folder, files would stay after a kill.
tmp-dir = ${JSON.stringify(join(folder, "tmp"))}
`;
}

export function restateBinary(): string {
	const launcher = createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json");
	return createRequire(launcher).resolve(
		`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
	);
}
