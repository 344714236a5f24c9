import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { portSource, type ServiceProcess, serverMain, serviceProcess } from "@geoswap/devnet";
import type { Environment } from "./environment.ts";

const freePort = portSource();

/** Starts another version of the worker at its own address. Once it is up, new handlers begin on it. */
export async function startWorkerBeside(
	{ adminUrl, logDir, serverEnvironment }: Environment,
	{ name }: { name: string },
): Promise<ServiceProcess> {
	const port = await freePort();
	const configFile = serverEnvironment.GEOSWAP_CONFIG ?? "";
	const config = JSON.parse(readFileSync(configFile, "utf8"));
	// The file is in the same folder as the other, because it refers to the same deployment file.
	const ownFile = join(dirname(configFile), `${name}.json`);
	writeFileSync(ownFile, JSON.stringify({ ...config, worker: { port } }));
	const worker = serviceProcess({
		name,
		command: process.execPath,
		args: [serverMain, "worker", "--config", ownFile],
		env: serverEnvironment,
		logFile: join(logDir, `${name}.log`),
		isReady: async () => (await newestWorker(adminUrl)) === `http://127.0.0.1:${port}/`,
	});
	await worker.start();
	return worker;
}

type Deployment = { id: string; uri: string };

/** Returns the addresses of all workers that are registered with the engine. */
export async function knownWorkers(adminUrl: string): Promise<string[]> {
	return (await readDeployments(adminUrl)).map(({ uri }) => uri);
}

/** Returns the address of the worker on which handlers begin. */
export async function newestWorker(adminUrl: string): Promise<string | undefined> {
	const response = await fetch(new URL("/services/round", adminUrl));
	const { deployment_id: newest } = (await response.json()) as { deployment_id?: string };
	return (await readDeployments(adminUrl)).find(({ id }) => id === newest)?.uri;
}

async function readDeployments(adminUrl: string): Promise<Deployment[]> {
	const response = await fetch(new URL("/deployments", adminUrl));
	return ((await response.json()) as { deployments: Deployment[] }).deployments;
}
