import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { baseEnvironment, type ServiceProcess, serverMain, serviceProcess } from "@geoswap/devnet";
import type { Environment } from "./environment.ts";
import { keepRefusals } from "./refusals.ts";

/** The content of the server's configuration file. */
type ConfigText = {
	api: Record<string, unknown>;
	chains: Record<string, Record<string, unknown>>;
	solana: Record<string, unknown>;
	[section: string]: unknown;
};

/**
 * Returns another API process of an environment, not started yet. It has the same secrets and configuration, except for
 * the changes of `configure`, and its own port.
 */
export function apiBeside(
	{ logDir, serverEnvironment }: Environment,
	{
		name,
		port,
		configure = () => {},
		nodeOptions = [],
	}: {
		name: string;
		port: number;
		configure?: (config: ConfigText) => void;
		nodeOptions?: readonly string[];
	},
): ServiceProcess & { baseUrl: string } {
	const configFile = serverEnvironment.GEOSWAP_CONFIG ?? "";
	const { api, ...config } = JSON.parse(readFileSync(configFile, "utf8"));
	const { metrics: _, ...ownApi } = { ...api, port };
	// The file is in the same folder as the other, because it refers to the same deployment file.
	const ownFile = join(dirname(configFile), `${name}.json`);
	const ownConfig = { ...config, api: ownApi };
	configure(ownConfig);
	writeFileSync(ownFile, JSON.stringify(ownConfig));
	const baseUrl = `http://127.0.0.1:${port}`;
	keepRefusals({ baseUrl, logDir });
	const service = serviceProcess({
		name,
		command: process.execPath,
		args: [...nodeOptions, serverMain, "api", "--config", ownFile],
		env: { ...baseEnvironment(), ...serverEnvironment },
		logFile: join(logDir, `${name}.log`),
		isReady: async () => (await fetch(`${baseUrl}/ready`)).ok,
	});
	return Object.assign(service, { baseUrl });
}
