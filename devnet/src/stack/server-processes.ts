import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "@geoswap/protocol";
import type { Hex } from "viem";
import { isAnswering } from "./is-answering.ts";
import { isListening } from "./port-source.ts";
import { baseEnvironment, serverMain } from "./server-command.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";
import { attesterConfig, type StackEndpoint, type StackSolanaEndpoint } from "./stack-config.ts";

/** The settings of the worker and the attesters if their keys are not in the environment. */
export type StackSigning = {
	/** The field `keys` of an attester's file. */
	attesterKeys: (index: number) => object;
	/** Variables that the worker needs to reach its keys. The references to the keys are in the configuration. */
	workerEnvironment: Record<string, string>;
	attesterEnvironment: Record<string, string>;
	/** Starts a process that holds keys, before those that use them. */
	startFirst?: (stack: {
		deployment: Deployment;
		endpoints: readonly StackEndpoint[];
		solana: StackSolanaEndpoint | undefined;
		logFile: (name: string) => string;
	}) => Promise<ServiceProcess>;
};

export type ServerProcesses = {
	api: ServiceProcess;
	worker: ServiceProcess;
	audit: ServiceProcess;
	attesters: ServiceProcess[];
	/** No swap needs it. `pnpm start` starts it, and tests do not. */
	console: ServiceProcess;
};

/** Returns the service's own processes, not started yet. Each gets only its own secrets. */
export function serverProcesses({
	dataDir,
	configFile,
	environment,
	endpoints,
	solana,
	ports,
	attesterKeys,
	signing,
	logLevel,
	adminUrl,
	logFile,
	onUnexpectedExit,
}: {
	dataDir: string;
	configFile: string;
	environment: Record<string, string>;
	endpoints: readonly StackEndpoint[];
	solana?: StackSolanaEndpoint | undefined;
	ports: {
		api: number;
		worker: number;
		console: number;
		attesters: number[];
		metrics: { audit: number };
	};
	attesterKeys: readonly Hex[];
	signing: StackSigning | undefined;
	/** Log level of the attesters; the other processes read theirs from the configuration. */
	logLevel: unknown;
	adminUrl: string;
	logFile: (name: string) => string;
	onUnexpectedExit: ((message: string) => void) | undefined;
}): ServerProcesses {
	const start = (
		name: string,
		command: string,
		{
			env,
			config,
			isReady,
		}: { env: Record<string, string>; config: string; isReady: () => Promise<boolean> },
	) =>
		serviceProcess({
			name,
			command: process.execPath,
			args: [serverMain, command, "--config", config],
			env: { ...baseEnvironment(), ...env },
			logFile: logFile(name),
			isReady,
			onUnexpectedExit,
		});
	return {
		attesters: ports.attesters.map((port, i) => {
			const name = `attester-${i + 1}`;
			const config = join(dataDir, `${name}.json`);
			writeFileSync(
				config,
				JSON.stringify(
					{
						...attesterConfig({ endpoints, solana, port, logLevel }),
						...(signing && { keys: signing.attesterKeys(i) }),
					},
					null,
					"\t",
				),
			);
			return start(name, "attester", {
				env: signing ? signing.attesterEnvironment : { GEOSWAP_ATTESTER_KEY: attesterKeys[i] ?? "" },
				config,
				isReady: () => isAnswering(`http://127.0.0.1:${port}/health`),
			});
		}),
		worker: start("worker", "worker", {
			env: {
				...pick(environment, ["WORKER_DATABASE_URL", "GEOSWAP_WEBHOOK_KEYS"]),
				...(signing ? signing.workerEnvironment : pick(environment, workerKeyNames)),
			},
			config: configFile,
			// After a restart the engine lists the services it knew before, which does not prove that the worker is up.
			isReady: async () => (await isListening(ports.worker)) && (await hasRoundService(adminUrl)),
		}),
		audit: start("audit", "audit", {
			env: pick(environment, ["AUDITOR_DATABASE_URL"]),
			config: configFile,
			isReady: () => isAnswering(`http://127.0.0.1:${ports.metrics.audit}/metrics`),
		}),
		api: start("api", "api", {
			env: pick(environment, [
				"API_DATABASE_URL",
				"REDIS_URL",
				"GEOSWAP_SEAL_KEYS",
				"GEOSWAP_WEBHOOK_KEYS",
				"GEOSWAP_API_KEY_PEPPER",
				"GEOSWAP_RECEIPT_KEY",
			]),
			config: configFile,
			isReady: () => isAnswering(`http://127.0.0.1:${ports.api}/health`),
		}),
		console: start("console", "console", {
			env: pick(environment, ["CONSOLE_DATABASE_URL"]),
			config: configFile,
			isReady: () => isAnswering(`http://localhost:${ports.console}/health`),
		}),
	};
}

const workerKeyNames = [
	"GEOSWAP_RELAYER_KEYS",
	"GEOSWAP_TREASURER_KEYS",
	"GEOSWAP_SOLANA_FEE_PAYER_KEYS",
	"GEOSWAP_SOLANA_OPERATOR_KEY",
];

async function hasRoundService(adminUrl: string): Promise<boolean> {
	const response = await fetch(`${adminUrl}/services`, { signal: AbortSignal.timeout(1_000) });
	const { services } = (await response.json()) as { services: { name: string }[] };
	return services.some(({ name }) => name === "round");
}

function pick(environment: Record<string, string>, names: string[]): Record<string, string> {
	return Object.fromEntries(
		names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
	);
}
