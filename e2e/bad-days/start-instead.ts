import { join } from "node:path";
import { baseEnvironment, type ServiceProcess, serverMain, serviceProcess } from "@geoswap/devnet";
import type { OwnEnvironment } from "../environment/environment.ts";

/** Stops a process of the stack, and starts one in its place with other variables. */
export async function startInstead(
	{ stack, logDir, serverEnvironment, metricsUrls }: OwnEnvironment,
	{ command, variables }: { command: "api" | "worker"; variables: Record<string, string> },
): Promise<ServiceProcess> {
	await stack.processes[command].stop();
	const name = `${command}-instead`;
	const other = serviceProcess({
		name,
		command: process.execPath,
		args: [serverMain, command, "--config", serverEnvironment.GEOSWAP_CONFIG ?? ""],
		env: { ...baseEnvironment(), ...serverEnvironment, ...variables },
		logFile: join(logDir, `${name}.log`),
		isReady: async () => (await fetch(metricsUrls[command])).ok,
	});
	await other.start();
	return other;
}
