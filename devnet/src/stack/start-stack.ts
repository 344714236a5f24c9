import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Deployment, formatDeployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import type { DevIris } from "../cctp/start-iris.ts";
import type { SolanaEndpoint } from "../devnet-files.ts";
import type { DevnetKeys } from "../devnet-keys.ts";
import type { SolanaDevnetKeys } from "../solana/development-solana-keys.ts";
import { solanaKeyVariables } from "../solana/solana-key-variables.ts";
import { startOrder } from "../start-order.ts";
import { claimFolder } from "./claim-folder.ts";
import { isEverythingReady } from "./is-everything-ready.ts";
import { portSource } from "./port-source.ts";
import { runSql } from "./run-sql.ts";
import { baseEnvironment, createApiKey, serverCommand } from "./server-command.ts";
import { type ServerProcesses, type StackSigning, serverProcesses } from "./server-processes.ts";
import type { ServiceProcess } from "./service-process.ts";
import {
	relayerKeys,
	type StackConfig,
	type StackEndpoint,
	type StackSolanaEndpoint,
	stackConfig,
	treasurerKeys,
} from "./stack-config.ts";
import { createDatabase, databaseLogins, startPostgres } from "./start-postgres.ts";
import { type StackRedis, startRedis } from "./start-redis.ts";
import { startRestate } from "./start-restate.ts";
import { waitUntil } from "./wait-until.ts";

/** Running chains. The services use these endpoints, which may be those of a proxy. */
export type StackChains = {
	endpoints: readonly StackEndpoint[];
	/** Undefined if Solana is not offered. */
	solana?: StackSolana;
	deployment: Deployment;
	keys: DevnetKeys;
	/** Undefined if the vaults have no routes to each other. */
	iris?: DevIris;
	stop: () => Promise<void>;
};

type StackSolana = SolanaEndpoint & StackSolanaEndpoint & { keys: SolanaDevnetKeys };

export type Stack = {
	baseUrl: string;
	apiKey: string;
	chains: readonly StackEndpoint[];
	solana?: StackSolana;
	deployment: Deployment;
	keys: DevnetKeys;
	iris?: DevIris;
	/** The login that owns the tables. */
	databaseUrl: string;
	redisUrl: string;
	ingressUrl: string;
	adminUrl: string;
	/** The operator's pages, once `processes.console` is started. */
	consoleUrl: string;
	logDir: string;
	/** The metrics endpoint of each process. */
	metricsUrls: { api: string; worker: string; audit: string; engine: string };
	/** The environment for any of the server's commands. Holds this run's secrets. */
	environment: Record<string, string>;
	/** PostgreSQL and Redis are set only if they are the stack's own. */
	processes: ServerProcesses & { restate: ServiceProcess; postgres?: ServiceProcess; redis?: ServiceProcess };
	stop: () => Promise<void>;
};

/** Long, because other work may take the whole machine meanwhile. */
const firstBlocksTimeoutMs = 300_000;

/** Starts chains, database, engine and every process of the service, all on 127.0.0.1, and waits until they respond. */
export async function startStack({
	dataDir,
	port,
	startChains,
	databaseUrl = process.env.DATABASE_URL,
	redisUrl = process.env.REDIS_URL,
	postgresSettings = [],
	attesterCount = 3,
	configure = (config) => config,
	signing,
	onProgress = () => {},
	onUnexpectedExit,
	signal,
}: {
	/** Folder for configuration, logs and data. It is new, empty, or from an earlier run, whose files are removed. */
	dataDir: string;
	/** Port of the API; the others are the next ones. Undefined for free ports. */
	port?: number;
	startChains: (nextPort: () => Promise<number>) => Promise<StackChains>;
	/** A server on which the stack gets its own database; without it, the stack starts its own server. */
	databaseUrl?: string | undefined;
	redisUrl?: string | undefined;
	/** Settings for the stack's own PostgreSQL server, as `name=value`. */
	postgresSettings?: readonly string[];
	attesterCount?: number;
	/** Changes the server's configuration. */
	configure?: (config: StackConfig) => StackConfig;
	/** Absent if the keys are in the processes' environment. */
	signing?: StackSigning | undefined;
	onProgress?: (line: string) => void;
	/** Called when a process ended without being stopped from here. */
	onUnexpectedExit?: (message: string) => void;
	/** Aborts the start at the next step, and leaves nothing running. */
	signal?: AbortSignal;
}): Promise<Stack> {
	claimFolder(dataDir);
	const logDir = join(dataDir, "logs");
	for (const left of ["logs", "postgres", "agent"])
		rmSync(join(dataDir, left), { recursive: true, force: true });
	mkdirSync(logDir, { recursive: true });
	const logFile = (name: string) => join(logDir, `${name}.log`);
	const nextPort = portSource(port);
	const ports = {
		api: await nextPort(),
		worker: await nextPort(),
		restate: { ingress: await nextPort(), admin: await nextPort(), node: await nextPort() },
		postgres: await nextPort(),
		redis: await nextPort(),
		attesters: [] as number[],
		metrics: { api: 0, worker: 0, audit: 0 },
		console: 0,
	};
	while (ports.attesters.length < attesterCount) ports.attesters.push(await nextPort());
	ports.metrics = { api: await nextPort(), worker: await nextPort(), audit: 0 };
	ports.console = await nextPort();
	ports.metrics.audit = await nextPort();

	const order = startOrder();
	const startedAt = performance.now();
	const step = (line: string) => {
		signal?.throwIfAborted();
		onProgress(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s  ${line}`);
	};
	try {
		step("starting chains, PostgreSQL, Redis, Restate");
		const { chains, postgres, redis, restate } = await order.together({
			chains: startChains(nextPort),
			postgres: databaseUrl
				? createDatabase(databaseUrl)
				: startPostgres({
						dataDir,
						logFile: logFile("postgres"),
						port: ports.postgres,
						settings: postgresSettings,
						onUnexpectedExit,
					}),
			redis: redisUrl
				? Promise.resolve<StackRedis>({ url: redisUrl, stop: async () => {} })
				: startRedis({
						logFile: logFile("redis"),
						port: ports.redis,
						password: randomBytes(18).toString("base64url"),
						onUnexpectedExit,
					}),
			restate: startRestate({
				dataDir,
				logFile: logFile("restate"),
				ports: ports.restate,
				onUnexpectedExit,
			}),
		});
		const { endpoints, solana, keys, iris } = chains;
		const deployment = { ...chains.deployment, receiptSigners: [privateKeyToAddress(keys.receipt)] };

		step("migrating the database");
		writeFileSync(join(dataDir, "deployment.json"), formatDeployment(deployment));
		const configFile = join(dataDir, "config.json");
		const attesterUrls = ports.attesters.map((port) => `http://127.0.0.1:${port}`);
		const { roles } = postgres;
		const config = configure(
			stackConfig({ endpoints, solana, ports, restate, attesterUrls, irisUrl: iris?.url, roles }),
		);
		writeFileSync(configFile, JSON.stringify(config, null, "\t"));
		const logins = databaseLogins(postgres);
		const environment = {
			...baseEnvironment(),
			GEOSWAP_CONFIG: configFile,
			DATABASE_URL: postgres.url,
			API_DATABASE_URL: logins.api.url,
			WORKER_DATABASE_URL: logins.worker.url,
			AUDITOR_DATABASE_URL: logins.auditor.url,
			CONSOLE_DATABASE_URL: logins.console.url,
			REDIS_URL: redis.url,
			GEOSWAP_SEAL_KEYS: rotatedSealKeys(),
			GEOSWAP_WEBHOOK_KEYS: `devnet:${randomBytes(32).toString("base64url")}`,
			GEOSWAP_API_KEY_PEPPER: randomBytes(32).toString("base64url"),
			GEOSWAP_RELAYER_KEYS: relayerKeys(endpoints, keys),
			GEOSWAP_TREASURER_KEYS: treasurerKeys(endpoints, keys),
			GEOSWAP_RECEIPT_KEY: keys.receipt,
			...(solana && solanaKeyVariables(solana.keys)),
		};
		await serverCommand(environment, ["migrate"]);
		for (const { setPassword } of Object.values(logins)) await runSql(postgres.url, setPassword);

		if (signing?.startFirst) {
			step("starting the signer");
			await order.together({ signer: signing.startFirst({ deployment, endpoints, solana, logFile }) });
		}

		step("starting attesters, worker, audit, API");
		const processes = serverProcesses({
			dataDir,
			configFile,
			environment,
			endpoints,
			solana,
			ports,
			attesterKeys: keys.attesters,
			signing,
			logLevel: config.logLevel,
			adminUrl: restate.adminUrl,
			logFile,
			onUnexpectedExit,
		});
		const creatingKey = createApiKey(environment, "demo");
		await order.together({
			...Object.fromEntries(processes.attesters.map((attester) => [attester.name, started(attester)])),
			worker: started(processes.worker),
			audit: started(processes.audit),
			api: started(processes.api),
			key: creatingKey.then(() => ({ stop: async () => {} })),
		});
		step("waiting for prices and inventory");
		const baseUrl = `http://127.0.0.1:${ports.api}`;
		await waitUntil(() => isEverythingReady(baseUrl), {
			timeoutMs: firstBlocksTimeoutMs,
			problem: () => `the service has no prices or no inventory; see ${logDir}`,
		});
		step("up");

		return {
			baseUrl,
			apiKey: await creatingKey,
			chains: endpoints,
			...(solana && { solana }),
			deployment,
			keys,
			...(iris && { iris }),
			databaseUrl: postgres.url,
			redisUrl: redis.url,
			ingressUrl: restate.ingressUrl,
			adminUrl: restate.adminUrl,
			consoleUrl: `http://localhost:${ports.console}`,
			logDir,
			metricsUrls: {
				api: `http://127.0.0.1:${ports.metrics.api}/metrics`,
				worker: `http://127.0.0.1:${ports.metrics.worker}/metrics`,
				audit: `http://127.0.0.1:${ports.metrics.audit}/metrics`,
				engine: restate.metricsUrl,
			},
			environment,
			processes: {
				...processes,
				restate: restate.process,
				...(postgres.process ? { postgres: postgres.process } : {}),
				...(redis.process ? { redis: redis.process } : {}),
			},
			stop: order.stop,
		};
	} catch (error) {
		await order.stop();
		throw error;
	}
}

/** Returns keys as after a rotation a minute ago. The first one seals; the other one is retired. */
export function rotatedSealKeys(): string {
	const [dev, before] = ["dev", "before"].map((kid) => `${kid}:${randomBytes(32).toString("base64url")}`);
	const since = `${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}Z`;
	return `${dev}@${since},${before}`;
}

async function started(service: ServiceProcess): Promise<ServiceProcess> {
	await service.start();
	return service;
}
