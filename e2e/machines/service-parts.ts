import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attesterConfig, type StackConfig, serverMain } from "@geoswap/devnet";
import type { Hex } from "viem";
import { balancerConfig } from "../environment/start-balancer.ts";
import { localBalancer } from "./local-balancer.ts";
import type { Machine } from "./network/machine.ts";
import { isAnswered, type Part, processOn } from "./part.ts";

const apiPort = 8700;
const workerPort = 9080;
export const attesterPort = 8710;
const redisPort = 6379;

/** The files and secrets that the service's machines have. */
export type ServiceSetting = {
	/** The folder with the deployment file. */
	folder: string;
	/** The configuration, but for the addresses on which the process listens. */
	config: StackConfig;
	/** The secrets of all processes. */
	secrets: Record<string, string>;
	logFile: (name: string) => string;
};

/** Returns the API processes, each beside its own HAProxy. */
export function apiParts(
	machines: readonly Machine[],
	{ balancer, ...setting }: ServiceSetting & { balancer: Machine },
): Part[] {
	return machines.map((machine) => {
		const ready = `http://${machine.address}:${apiPort}/ready`;
		const api = {
			host: "0.0.0.0",
			port: apiPort,
			trustedProxies: [balancer.address],
			drainSeconds: 5,
		};
		return servicePart(machine, setting, {
			command: "api",
			own: { api },
			secretNames: ["API_DATABASE_URL", "REDIS_URL", "GEOSWAP_SEAL_KEYS", "GEOSWAP_API_KEY_PEPPER"],
			isWell: () => isAnswered(ready),
		});
	});
}

/** Returns the workers, each beside its own HAProxy and an audit. The engine calls any of them at one address. */
export function workerParts(machines: readonly Machine[], setting: ServiceSetting): Part[] {
	return machines.map((machine) => {
		const metrics = { host: "0.0.0.0", port: 9_464 };
		const worker = { host: "0.0.0.0", port: workerPort, publicUrl: "http://127.0.0.1:19080", metrics };
		const part = servicePart(machine, setting, {
			command: "worker",
			own: { worker },
			secretNames: [
				"WORKER_DATABASE_URL",
				"GEOSWAP_RELAYER_KEYS",
				"GEOSWAP_TREASURER_KEYS",
				"GEOSWAP_SOLANA_FEE_PAYER_KEYS",
				"GEOSWAP_SOLANA_OPERATOR_KEY",
			],
			isWell: () => isAnswered(`http://${machine.address}:${metrics.port}/metrics`),
		});
		return { ...part, processes: [...part.processes, auditOn(machine, setting)] };
	});
}

function auditOn(machine: Machine, { folder, config, secrets, logFile }: ServiceSetting) {
	const metrics = { host: "0.0.0.0", port: 9_465 };
	const configFile = join(folder, `${machine.name}-audit.json`);
	writeFileSync(configFile, JSON.stringify({ ...config, audit: { metrics } }));
	return processOn(machine, {
		name: "audit",
		program: process.execPath,
		args: [serverMain, "audit", "--config", configFile],
		env: { AUDITOR_DATABASE_URL: secrets.AUDITOR_DATABASE_URL ?? "" },
		logFile: logFile(`${machine.name}-audit`),
		isReady: () => isAnswered(`http://${machine.address}:${metrics.port}/metrics`),
	});
}

function servicePart(
	machine: Machine,
	{ folder, config, secrets, logFile }: ServiceSetting,
	{
		command,
		own,
		secretNames,
		isWell,
	}: {
		command: "api" | "worker";
		own: Record<string, unknown>;
		secretNames: readonly string[];
		isWell: () => Promise<boolean>;
	},
): Part {
	const { name } = machine;
	const configFile = join(folder, `${name}.json`);
	writeFileSync(configFile, JSON.stringify({ ...config, ...own }));
	const service = processOn(machine, {
		name: command,
		program: process.execPath,
		args: [serverMain, command, "--config", configFile],
		env: Object.fromEntries(secretNames.map((secret) => [secret, secrets[secret] ?? ""])),
		logFile: logFile(name),
		isReady: isWell,
	});
	return { machine, processes: [localBalancer(machine, { logFile }), service], isWell };
}

/** Returns the attesters. They need nothing but nodes of the chains. */
export function attesterParts(
	machines: readonly Machine[],
	{
		folder,
		endpoints,
		solana,
		keys,
		logFile,
	}: Pick<ServiceSetting, "folder" | "logFile"> &
		Pick<Parameters<typeof attesterConfig>[0], "endpoints" | "solana"> & { keys: readonly Hex[] },
): Part[] {
	return machines.map((machine, i) => {
		const { name, address } = machine;
		const configFile = join(folder, `${name}.json`);
		const config = attesterConfig({ endpoints, solana, port: attesterPort });
		writeFileSync(configFile, JSON.stringify({ ...config, host: "0.0.0.0" }));
		const isWell = () => isAnswered(`http://${address}:${attesterPort}/health`);
		const attester = processOn(machine, {
			name: "attester",
			program: process.execPath,
			args: [serverMain, "attester", "--config", configFile],
			env: { GEOSWAP_ATTESTER_KEY: keys[i] ?? "" },
			logFile: logFile(name),
			isReady: isWell,
		});
		return { machine, processes: [attester], isWell };
	});
}

/** Returns the load balancer of the API, with the published configuration. */
export function balancerPart(
	machine: Machine,
	{ apis, folder, logFile }: { apis: readonly Machine[] } & Pick<ServiceSetting, "folder" | "logFile">,
): Part & { baseUrl: string } {
	const configFile = join(folder, "haproxy.cfg");
	const servers = apis.map(({ address }) => `${address}:${apiPort}`);
	writeFileSync(configFile, balancerConfig({ bind: `0.0.0.0:${apiPort}`, servers }));
	const baseUrl = `http://${machine.address}:${apiPort}`;
	const isWell = () => isAnswered(`${baseUrl}/ready`);
	const haproxy = processOn(machine, {
		name: "haproxy",
		program: "haproxy",
		args: ["-db", "-f", configFile],
		logFile: logFile(machine.name),
		isReady: async () => true,
	});
	return { machine, processes: [haproxy], isWell, baseUrl };
}

/** Returns a Redis that keeps nothing on a disk. */
export function redisPart(
	machine: Machine,
	{ password, logFile }: { password: string } & Pick<ServiceSetting, "logFile">,
): Part {
	const redis = processOn(machine, {
		name: "redis",
		program: "redis-server",
		args: [
			["--bind", "0.0.0.0"],
			["--port", String(redisPort)],
			["--save", ""],
			["--requirepass", password],
		].flat(),
		logFile: logFile(machine.name),
		isReady: async () => true,
	});
	return { machine, processes: [redis], isWell: async () => redis.pid !== undefined };
}

/**
 * Returns the machine on which an operator runs commands. All ports that its HAProxy opens on loopback are also open to
 * this machine, on which the tests run.
 */
export function operatorPart(
	machine: Machine,
	{ folder, logFile }: Pick<ServiceSetting, "folder" | "logFile">,
): Part {
	const configFile = join(folder, "operator.cfg");
	const listen = (name: string, port: number) =>
		`listen ${name}-here\n\tbind ${machine.address}:${port}\n\tserver here 127.0.0.1:${port} no-check\n`;
	writeFileSync(
		configFile,
		["postgres", "admin"].map((name, i) => listen(name, i ? 19_070 : 15_432)).join("\n"),
	);
	return {
		machine,
		processes: [localBalancer(machine, { logFile, more: [configFile] })],
		isWell: async () => true,
	};
}
