import { join } from "node:path";
import {
	baseEnvironment,
	portSource,
	type ServiceProcess,
	serverMain,
	serviceProcess,
} from "@geoswap/devnet";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import { type OwnEnvironment, startEnvironment } from "../environment/environment.ts";
import { tellingMemory } from "./memory-in-use.ts";

/** A service alone on this machine, bare twins of its parts, and a connection to its database. */
export type Bench = {
	environment: OwnEnvironment;
	database: DatabaseConnection;
	bare: { http: BareProcess; swap: BareProcess };
	stop: () => Promise<void>;
};
/** For `memoryFile`, see `memoryInUse`. */
type BareProcess = { url: string; process: ServiceProcess; memoryFile: string };

/** Approximate size of a quote's sealed content. */
const sealedBytes = 1_400;
const unlimited = 1_000_000;

/**
 * Amounts of USDC by the number of blocks that their deposits and deliveries wait for. Both are above the limit from
 * which a second provider confirms.
 */
export const amountOfDepth = { 0: 60_000_000n, 1: 100_000_000n } as const;
const depths = [
	{ upToUsd: 80, blocks: 0 },
	{ upToUsd: 1_000_000, blocks: 1 },
];
/** Long, because on a busy machine an op that is submitted late is sent later still. */
const openSeconds = 300;

export async function startBench(say: (line: string) => void): Promise<Bench> {
	// Everything that is measured must be on this machine, with a PostgreSQL that counts its statements.
	for (const name of ["DATABASE_URL", "REDIS_URL"]) delete process.env[name];
	const environment = await startEnvironment({
		onProgress: say,
		countCalls: true,
		postgresSettings: [
			"shared_preload_libraries=pg_stat_statements",
			"pg_stat_statements.max=10000",
			"pg_stat_statements.track_planning=on",
		],
		configure: (config) => ({
			...config,
			chains: Object.fromEntries(
				Object.entries(config.chains).map(([id, chain]) => [id, { ...chain, depths, openSeconds }]),
			),
			api: {
				...(config.api as object),
				rates: Object.fromEntries(
					["quote", "build", "submit", "delegation", "status"].map((operation) => [operation, unlimited]),
				),
				heldStatusCalls: unlimited,
			},
			// Attesters are polled every 15 s, which is the default. Tests need shorter intervals.
			heartbeatSeconds: 75,
			logLevel: "warn",
			// Telemetry is off, which is the default, because tracing each request has its own cost.
			telemetry: {},
		}),
	});
	const started: ServiceProcess[] = [];
	try {
		const database = await connectDatabase(environment.databaseUrl);
		await database.query("create extension pg_stat_statements");
		const nextPort = portSource();
		const startBare = async (
			file: string,
			env: (ports: { port: number; enginePort: number }) => Record<string, string>,
		): Promise<BareProcess> => {
			const ports = { port: await nextPort(), enginePort: await nextPort() };
			const url = `http://127.0.0.1:${ports.port}`;
			const memoryFile = join(environment.logDir, `${file}-memory.json`);
			const bare = serviceProcess({
				name: file,
				command: process.execPath,
				args: [...tellingMemory(memoryFile), join(serverMain, "../../bench", file), String(ports.port)],
				env: { ...baseEnvironment(), ...env(ports) },
				logFile: join(environment.logDir, `${file}.log`),
				isReady: async () => (await fetch(`${url}/ready`)).ok,
			});
			started.push(bare);
			await bare.start();
			return { url, process: bare, memoryFile };
		};
		const relayerKey = generatePrivateKey();
		const chains = [environment.origin, environment.destination];
		for (const { testClient } of chains)
			await testClient.setBalance({ address: privateKeyToAddress(relayerKey), value: parseEther("1000") });
		let engineUrl = "";
		const bare = {
			http: await startBare("bare-http.ts", () => ({ TOKEN_BYTES: String(sealedBytes) })),
			swap: await startBare("bare-swap.ts", ({ port, enginePort }) => {
				engineUrl = `http://127.0.0.1:${enginePort}`;
				const { databaseUrl, stack } = environment;
				return {
					BARE_SWAP: JSON.stringify({
						port,
						enginePort,
						databaseUrl,
						ingressUrl: stack.ingressUrl,
						relayerKey,
						chains: chains.map(({ chainId, rpcUrl }) => ({ chainId, rpcUrl })),
					}),
				};
			}),
		};
		await register(environment, engineUrl);
		return { environment, database, bare, stop: () => stop(database) };
	} catch (error) {
		await stop();
		throw error;
	}

	async function stop(database?: DatabaseConnection): Promise<void> {
		for (const one of started) await one.stop();
		await database?.end();
		await environment.stop();
	}
}

async function register({ adminUrl }: OwnEnvironment, uri: string): Promise<void> {
	const response = await fetch(`${adminUrl}/deployments`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ uri, force: true }),
	});
	if (!response.ok) throw new Error(`the engine refused the bare twin: ${await response.text()}`);
}
