import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createApiKey,
	databaseLogins,
	relayerKeys,
	rotatedSealKeys,
	serverCommand,
	solanaFeeds,
	solanaKeyVariables,
	stackConfig,
	startTestChains,
	startTestSolana,
	treasurerKeys,
	waitUntil,
} from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { getChains } from "@geoswap/sdk";
import { connectDatabase } from "../environment/connect-database.ts";
import { type Environment, joinEnvironment } from "../environment/environment.ts";
import { solanaHoldings } from "../solana/solana-holdings.ts";
import { type DatabaseParts, databaseParts, newPassword } from "./database-parts.ts";
import { engineParts } from "./engine-parts.ts";
import { createNetwork, hereName } from "./network/create-network.ts";
import type { Machine } from "./network/machine.ts";
import { isAnswered, type Part, startPart } from "./part.ts";
import {
	apiParts,
	attesterParts,
	attesterPort,
	balancerPart,
	operatorPart,
	redisPart,
	type ServiceSetting,
	workerParts,
} from "./service-parts.ts";

/** The machines of each kind. */
const counts = {
	etcd: 3,
	postgres: 2,
	engine: 3,
	redis: 1,
	attester: 3,
	worker: 2,
	api: 2,
	balancer: 1,
	operator: 1,
};
export type Kind = keyof typeof counts;

export type Machines = {
	environment: Environment;
	parts: Record<Kind, Part[]>;
	database: DatabaseParts;
	/** The folder with the data of all machines. */
	folder: string;
	stop: (options?: { keepFiles?: boolean }) => Promise<void>;
};

/** More than a failover takes on a busy machine. */
const upWithinMs = 120_000;

/** Starts the whole service on separate machines, with the published configurations, and waits until all are well. */
export async function startMachines(): Promise<Machines> {
	const logDir = mkdtempSync(join(tmpdir(), "geoswap-machines-"));
	const logFile = (name: string) => join(logDir, `${name}.log`);
	const names = Object.entries(counts).flatMap(([kind, count]) => numbered(kind, count));
	const network = await createNetwork(names);
	// In memory, because all databases and logs would share one disk here. Memory keeps what a killed process has written.
	const folder = makeOwnFolder();
	const machinesOf = (kind: Kind): Machine[] =>
		numbered(kind, counts[kind]).map((name) => network.machines[name] as Machine);
	const machineOf = (kind: Kind) => machinesOf(kind)[0] as Machine;
	const evm = await startTestChains({ automine: false });
	const solana = await startTestSolana({ feeds: solanaFeeds(evm.origin.deployment) });
	const stopChains = () => Promise.all([evm.stop(), solana.stop()]);
	try {
		const chains = [evm.origin, evm.destination];
		for (const { rpcUrl } of [...chains, solana]) network.publish(Number(new URL(rpcUrl).port));
		const deployment = { ...evm.deployment, solana: solana.deployment };
		writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));

		const database = databaseParts({
			machines: { postgres: machinesOf("postgres"), etcd: machinesOf("etcd") },
			folder,
			logFile,
		});
		const { engine, identityKey } = engineParts({ machines: machinesOf("engine"), folder, logFile });
		const operator = operatorPart(machineOf("operator"), { folder, logFile });
		await startAll([...database.etcd, ...database.postgres, ...engine, operator]);

		const operatorAddress = operator.machine.address;
		const { postgres: owner, roles } = await createServiceDatabase(operatorAddress, database);
		const logins = databaseLogins({ url: owner, roles });
		const redisPassword = newPassword();
		const secrets = {
			DATABASE_URL: owner,
			API_DATABASE_URL: logins.api.url,
			WORKER_DATABASE_URL: logins.worker.url,
			AUDITOR_DATABASE_URL: logins.auditor.url,
			REDIS_URL: `redis://:${redisPassword}@redis:6379`,
			GEOSWAP_SEAL_KEYS: rotatedSealKeys(),
			GEOSWAP_API_KEY_PEPPER: newPassword() + newPassword(),
			GEOSWAP_RELAYER_KEYS: relayerKeys(chains, evm.keys),
			GEOSWAP_TREASURER_KEYS: treasurerKeys(chains, evm.keys),
			...solanaKeyVariables(solana.keys),
		};
		const seenFrom = (host: string) => ({
			endpoints: chains.map(({ chainId, rpcUrl }) => ({ chainId, rpcUrl: onHost(rpcUrl, host) })),
			solana: { rpcUrl: onHost(solana.rpcUrl, host) },
		});
		const configFor = (host: string) =>
			stackConfig({
				...seenFrom(host),
				ports: { api: 0, worker: 0, metrics: { api: 0, worker: 0, audit: 0 } },
				restate: { ingressUrl: "http://127.0.0.1:18080", adminUrl: "http://127.0.0.1:19070", identityKey },
				attesterUrls: machinesOf("attester").map(({ name }) => `http://${name}:${attesterPort}`),
				roles,
			});
		const { api: _, worker: __, ...here } = configFor("127.0.0.1");
		const commandConfig = join(folder, "geoswap.json");
		writeFileSync(commandConfig, JSON.stringify({ ...here, api: { port: 1 }, worker: { port: 2 } }));
		const serverEnvironment: Record<string, string> = {
			...Object.fromEntries(
				Object.entries(secrets).map(([name, value]) => [
					name,
					value.replace("@127.0.0.1:", `@${operatorAddress}:`),
				]),
			),
			GEOSWAP_CONFIG: commandConfig,
			PATH: process.env.PATH ?? "",
			HOME: process.env.HOME ?? "",
		};
		await serverCommand(serverEnvironment, ["migrate"]);
		const superuser = await connectDatabase(superuserUrl(operatorAddress, database, "geoswap"));
		for (const { setPassword } of Object.values(logins)) await superuser.query(setPassword);
		await superuser.end();

		const setting: ServiceSetting = { folder, config: configFor(hereName), secrets, logFile };
		const balancerMachine = machineOf("balancer");
		const balancer = balancerPart(balancerMachine, { apis: machinesOf("api"), folder, logFile });
		const parts: Record<Kind, Part[]> = {
			...database,
			engine,
			operator: [operator],
			redis: [redisPart(machineOf("redis"), { password: redisPassword, logFile })],
			attester: attesterParts(machinesOf("attester"), {
				...seenFrom(hereName),
				folder,
				keys: evm.keys.attesters,
				logFile,
			}),
			worker: workerParts(machinesOf("worker"), setting),
			api: apiParts(machinesOf("api"), { ...setting, balancer: balancerMachine }),
			balancer: [balancer],
		};
		await startAll([...parts.redis, ...parts.attester, ...parts.worker, ...parts.api, balancer]);
		const adminUrl = `http://${operatorAddress}:19070`;
		// Without the engine the workers' ticks would do everything, only later.
		await waitUntil(() => isAnswered(`${adminUrl}/services/round`), {
			timeoutMs: upWithinMs,
			problem: () => `no worker is registered with the engine; see ${logDir}`,
		});
		const environment = joinEnvironment({
			baseUrl: balancer.baseUrl,
			apiKey: await createApiKey(serverEnvironment, "machines"),
			databaseUrl: serverEnvironment.DATABASE_URL ?? "",
			adminUrl,
			logDir,
			tracesFile: join(logDir, "traces.jsonl"),
			metricsUrls: { api: "", worker: "", audit: "", engine: "" },
			deployment,
			keys: evm.keys,
			chains,
			solana: { ...solana, heldAtStart: await solanaHoldings(solana) },
			serverEnvironment,
		});
		const client = await environment.newClient();
		// The API is ready before a worker has read a first block of each chain.
		await waitUntil(async () => (await getChains(client)).chains.every(({ paused }) => !paused), {
			timeoutMs: upWithinMs,
			problem: () => `a chain is still paused; see ${logDir}`,
		});
		return {
			environment,
			parts,
			database,
			folder,
			stop: async ({ keepFiles = false } = {}) => {
				await network.remove();
				await stopChains();
				rmSync(folder, { recursive: true });
				if (!keepFiles) rmSync(logDir, { recursive: true });
			},
		};
	} catch (error) {
		await network.remove();
		await stopChains();
		rmSync(folder, { recursive: true });
		console.error(`The machines' logs: ${logDir}`);
		throw error;
	}
}

const folderPrefix = "geoswap-machines-";

/** Makes a folder in memory that other users can enter. Those of processes that were killed are removed. */
function makeOwnFolder(): string {
	const memory = "/dev/shm";
	for (const name of readdirSync(memory)) {
		const owner = name.startsWith(folderPrefix) ? name.slice(folderPrefix.length) : undefined;
		if (owner && !existsSync(`/proc/${owner}`)) rmSync(join(memory, name), { recursive: true });
	}
	const folder = join(memory, `${folderPrefix}${process.pid}`);
	mkdirSync(folder, { mode: 0o755 });
	return folder;
}

/** Starts parts that need each other, and waits until each is well. */
export async function startAll(parts: readonly Part[]): Promise<void> {
	await Promise.all(parts.map(startPart));
	await untilWell(parts);
}

export async function untilWell(parts: readonly Part[]): Promise<void> {
	let unwell: Part[] = [];
	const isEachWell = async () => {
		const isWell = await Promise.all(parts.map((part) => part.isWell()));
		unwell = parts.filter((_, i) => !isWell[i]);
		return unwell.length === 0;
	};
	const problem = () => `not well: ${unwell.map(({ machine }) => machine.name).join(", ")}`;
	await waitUntil(isEachWell, { timeoutMs: upWithinMs, problem });
}

/** Creates the service's database and its owner, which is no superuser. */
async function createServiceDatabase(host: string, database: DatabaseParts) {
	const password = newPassword();
	const superuser = await connectDatabase(superuserUrl(host, database, "postgres"));
	try {
		await superuser.query(`create role geoswap login createrole password '${password}'`);
		await superuser.query("create database geoswap owner geoswap");
	} finally {
		await superuser.end();
	}
	return {
		postgres: `postgres://geoswap:${password}@127.0.0.1:15432/geoswap`,
		roles: {
			api: "geoswap_api",
			worker: "geoswap_worker",
			auditor: "geoswap_auditor",
			console: "geoswap_console",
		},
	};
}

function superuserUrl(host: string, { superuser }: DatabaseParts, name: string): string {
	return `postgres://${superuser.name}:${superuser.password}@${host}:15432/${name}`;
}

function numbered(kind: string, count: number): string[] {
	return count === 1 ? [kind] : Array.from({ length: count }, (_, i) => `${kind}-${i + 1}`);
}

function onHost(url: string, host: string): string {
	const moved = new URL(url);
	moved.hostname = host;
	return moved.href.replace(/\/$/, "");
}
