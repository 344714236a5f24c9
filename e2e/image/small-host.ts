import { createPublicKey } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	attesterConfig,
	deriveSolanaDevnetKeys,
	identityKeyOf,
	solanaKeyVariables,
	stackConfig,
} from "@geoswap/devnet";
import { type Deployment, deploymentSchema, formatDeployment } from "@geoswap/protocol";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { compose, imageEnvironment } from "./local-images.ts";
import { runCommand } from "./run-command.ts";

const project = "geoswap";
/** The devnet's ports inside its container, and where containers and this machine reach them. */
const chainPorts = [8545, 8546, 8547];
const openPort = (port: number) => port + 1_000;

/** The services that an upgrade replaces. */
export const smallHostServices = ["attester", "audit", "worker-1", "worker-2", "api-1", "api-2", "console"];

export type SmallHost = {
	/** The address behind TLS. */
	baseUrl: string;
	/** The operator's pages. */
	consoleUrl: string;
	/** The certificate that callers must trust. */
	certificate: string;
	apiKey: string;
	deployment: Deployment;
	chains: { chainId: number; rpcUrl: string }[];
	/** Replaces every process by one of another image, as an operator does. */
	upgrade: (image: string) => Promise<void>;
	/** Runs a command of geoswapd with the secrets of the host. */
	geoswapd: (args: readonly string[]) => Promise<string>;
	/** Logs of a service's container. */
	logs: (service: string) => Promise<string>;
	stop: () => Promise<void>;
};

/** Starts deploy/compose/small-host.yaml according to its docs, on chains in a separate container. */
export async function startSmallHost({
	folder,
	port,
	consolePort,
}: {
	folder: string;
	port: number;
	consolePort: number;
}): Promise<SmallHost> {
	const env = {
		GEOSWAP_DIR: folder,
		GEOSWAP_PUBLISH: `127.0.0.1:${port}`,
		GEOSWAP_CONSOLE_PUBLISH: `127.0.0.1:${consolePort}`,
	};
	const podman = (...args: string[]) => runCommand(["podman", ...args]);
	const stop = async () => {
		await compose({ file: "small-host.yaml", project }, ["down", "--volumes"], env).catch(() => {});
		// One by one, because podman removes none if one of them does not exist. The forwarder goes before the chains, whose
		// network it uses.
		for (const name of ["attester-2", "attester-3", "chains-open", "chains"])
			await podman("rm", "--force", "--ignore", "--time", "1", name);
	};
	await stop().catch(() => {});
	// The networks of the outside world. Compose uses networks that exist.
	const outside = ["edge", "worker-out", "audit-out", "attester-out"].map((name) => `${project}_${name}`);
	// podman-compose leaves networks behind, and those of an earlier run will do.
	const network = (name: string, ...options: string[]) =>
		podman("network", "exists", name).catch(() => podman("network", "create", ...options, name));
	for (const name of outside) await network(name);
	await network(`${project}_attest`, "--internal");
	await startChains({ networks: outside });
	const chainFile = (name: string) => podman("exec", "chains", "cat", `/data/${name}`);
	const keys = JSON.parse(await chainFile("keys.json")) as Keys;
	const deployment = {
		...deploymentSchema.parse(JSON.parse(await chainFile("deployment.json"))),
		receiptSigners: [privateKeyToAddress(keys.receipt.privateKey)],
	};

	const [edge] = JSON.parse(await podman("network", "inspect", `${project}_edge`));
	await writeKeys(folder, keys);
	const secrets = join(import.meta.dirname, "../../deploy/compose/new-secrets");
	await runCommand([secrets, folder]);
	const certificate = await makeCertificate(join(folder, "secrets/tls.pem"));
	const consoleUrl = `http://localhost:${consolePort}`;
	writeConfig({ folder, deployment, edge: edge.subnets[0].subnet, consoleUrl });
	await runCommand([secrets, folder]);
	await compose({ file: "small-host.yaml", project }, ["up", "-d"], env);
	for (const number of [2, 3]) await startOtherAttester(number, { folder, keys });

	const mounts = ["-v", `${folder}/config:/etc/geoswap:ro`, "-v", `${folder}/secrets:/run/secrets:ro`];
	const variables = {
		DATABASE_URL: "database-url",
		AUDITOR_DATABASE_URL: "auditor-database-url",
		CONSOLE_DATABASE_URL: "console-database-url",
		GEOSWAP_API_KEY_PEPPER: "api-key-pepper",
	};
	const geoswapd = (args: readonly string[]) =>
		podman(
			...["run", "--rm", "--no-healthcheck", "--network", `${project}_worker-data,${project}_worker-out`],
			...mounts,
			...Object.entries(variables).flatMap(([name, file]) => ["-e", `${name}_FILE=/run/secrets/${file}`]),
			...[imageEnvironment.GEOSWAP_IMAGE, ...args],
		);
	for (const service of smallHostServices) {
		await untilDone(() => podman("exec", `${project}_${service}_1`, "geoswapd", "health", "--ready"));
	}
	const { apiKey } = JSON.parse(await geoswapd(["keys", "create", "--account", "demo", "--json"]));
	return {
		baseUrl: `https://localhost:${port}`,
		consoleUrl,
		certificate,
		apiKey,
		deployment,
		chains: deployment.chains.map(({ chainId }, i) => ({
			chainId,
			rpcUrl: `http://127.0.0.1:${openPort(chainPorts[i] ?? 0)}`,
		})),
		upgrade: async (image) => {
			const script = join(import.meta.dirname, "../../deploy/compose/upgrade");
			const tools = { COMPOSE: "podman-compose", ENGINE: "podman" };
			await runCommand([script], { env: { ...imageEnvironment, ...env, ...tools, GEOSWAP_IMAGE: image } });
		},
		geoswapd,
		logs: (service) => podman("logs", `${project}_${service}_1`),
		stop,
	};
}

type Key = { privateKey: Hex };
type Keys = { relayers: Key[]; treasurer: Key; attesters: Key[]; receipt: Key };

/**
 * Starts the devnet, and beside it, in the same network namespace, a forwarder, because the chains listen on loopback
 * only.
 */
async function startChains({ networks }: { networks: readonly string[] }): Promise<void> {
	const devnet = imageEnvironment.GEOSWAP_DEVNET_IMAGE;
	const published = chainPorts.flatMap((port) => ["-p", `127.0.0.1:${openPort(port)}:${openPort(port)}`]);
	await runCommand([
		...["podman", "run", "-d", "--no-healthcheck", "--name", "chains", "--network", networks.join(",")],
		...["--network-alias", "chains", ...published, "--entrypoint", "node", devnet],
		...["devnet/src/main.ts", "--data-dir", "/data"],
	]);
	const forward = `for (const port of ${JSON.stringify(chainPorts)})
		require("net").createServer((from) => {
			const to = require("net").connect(port, "127.0.0.1");
			from.pipe(to).pipe(from);
			for (const one of [from, to]) one.on("error", () => { from.destroy(); to.destroy(); });
		}).listen(port + 1000)`;
	await runCommand([
		...["podman", "run", "-d", "--no-healthcheck", "--name", "chains-open", "--network", "container:chains"],
		...["--entrypoint", "node", devnet, "-e", forward],
	]);
	// The file is written once the chains are set up.
	await untilDone(() => runCommand(["podman", "exec", "chains", "cat", "/data/running.json"]));
}

async function writeKeys(folder: string, { relayers, treasurer, attesters, receipt }: Keys): Promise<void> {
	mkdirSync(join(folder, "secrets"), { recursive: true });
	const solana = solanaKeyVariables(deriveSolanaDevnetKeys());
	const two = relayers.slice(0, 2).map(({ privateKey }) => privateKey);
	const files = {
		"relayer-keys": [31337, 31338].flatMap((chainId) => two.map((key) => `${chainId}:${key}`)).join(","),
		"treasurer-keys": [31337, 31338].map((chainId) => `${chainId}:${treasurer.privateKey}`).join(","),
		"solana-fee-payer-keys": solana.GEOSWAP_SOLANA_FEE_PAYER_KEYS,
		"solana-operator-key": solana.GEOSWAP_SOLANA_OPERATOR_KEY,
		"attester-key": attesters[0]?.privateKey,
		"receipt-key": receipt.privateKey,
	};
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "secrets", name), `${text}\n`);
}

/** Makes a certificate for this machine, and returns it. */
async function makeCertificate(path: string): Promise<string> {
	await runCommand([
		...[
			"openssl",
			"req",
			"-x509",
			"-newkey",
			"ec",
			"-pkeyopt",
			"ec_paramgen_curve:P-256",
			"-nodes",
			"-days",
			"2",
		],
		...[
			"-subj",
			"/CN=localhost",
			"-addext",
			"subjectAltName=DNS:localhost",
			"-keyout",
			path,
			"-out",
			`${path}.crt`,
		],
	]);
	const certificate = readFileSync(`${path}.crt`, "utf8");
	writeFileSync(path, certificate + readFileSync(path, "utf8"));
	return certificate;
}

function writeConfig({
	folder,
	deployment,
	edge,
	consoleUrl,
}: {
	folder: string;
	deployment: Deployment;
	consoleUrl: string;
	/** The network that callers' requests come from. */
	edge: string;
}): void {
	const rpcUrl = (i: number) => `http://chains:${openPort(chainPorts[i] ?? 0)}`;
	const endpoints = deployment.chains.map(({ chainId }, i) => ({ chainId, rpcUrl: rpcUrl(i) }));
	const solana = { rpcUrl: rpcUrl(2) };
	const identity = readFileSync(join(folder, "secrets/restate-identity.pem"), "utf8");
	const config = stackConfig({
		endpoints,
		solana,
		ports: { api: 8700, worker: 9080, console: 9090, metrics: { api: 8710, worker: 8711, audit: 8712 } },
		restate: {
			ingressUrl: "http://restate:8080",
			adminUrl: "http://restate:9070",
			identityKey: identityKeyOf(createPublicKey(identity)),
		},
		attesterUrls: ["attester", "attester-2", "attester-3"].map((name) => `http://${name}:9100`),
		roles: { api: "geoswap_api", worker: "geoswap_worker", auditor: "geoswap_auditor" },
	});
	const own = {
		...config,
		api: { ...(config.api as object), host: "0.0.0.0", drainSeconds: 5, trustedProxies: [edge] },
		worker: { ...(config.worker as object), host: "0.0.0.0", metrics: { host: "0.0.0.0", port: 8711 } },
		audit: { metrics: { host: "0.0.0.0", port: 8712 } },
		console: {
			host: "0.0.0.0",
			port: 9090,
			publicUrl: consoleUrl,
			workerMetricsUrls: ["worker-1:8711", "worker-2:8711", "audit:8712"].map((at) => `http://${at}/metrics`),
		},
	};
	const attester = { ...attesterConfig({ endpoints, solana, port: 9100 }), host: "0.0.0.0" };
	writeFileSync(join(folder, "config/geoswap.json"), JSON.stringify(own, null, "\t"));
	writeFileSync(join(folder, "config/attester.json"), JSON.stringify(attester, null, "\t"));
	writeFileSync(join(folder, "config/deployment.json"), formatDeployment(deployment));
}

/** Starts another attester of the set, as on another host. */
async function startOtherAttester(
	number: number,
	{ folder, keys }: { folder: string; keys: Keys },
): Promise<void> {
	const name = `attester-${number}`;
	await runCommand([
		...["podman", "run", "-d", "--no-healthcheck", "--name", name, "--network-alias", name],
		...["--network", `${project}_attest,${project}_attester-out`, "-v", `${folder}/config:/etc/geoswap:ro`],
		...["-e", `GEOSWAP_ATTESTER_KEY=${keys.attesters[number - 1]?.privateKey}`],
		...[imageEnvironment.GEOSWAP_IMAGE, "attester", "--config", "/etc/geoswap/attester.json"],
	]);
}

/** Calls until it succeeds. Throws its last failure after ten minutes. */
async function untilDone<T>(call: () => Promise<T>): Promise<T> {
	const deadline = Date.now() + 600_000;
	for (;;) {
		try {
			return await call();
		} catch (error) {
			if (Date.now() > deadline) throw error;
			await sleep(1_000);
		}
	}
}
