import { dirname, resolve } from "node:path";
import { deploymentSchema } from "@geoswap/protocol";
import { type Config, configSchema } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configProblems } from "./config-problems.ts";
import { parseJsonFile } from "./parse-json-file.ts";

/** Reads a configuration file and the deployment file that it names. Throws a message that a person can act on. */
export function readConfig(path: string): Config {
	const { deployment: deploymentPath, chains, solana, ...rest } = parseJsonFile(configSchema, path);
	const deployment = parseJsonFile(deploymentSchema, resolve(dirname(path), deploymentPath));
	const config: Config = {
		...rest,
		deployment,
		chains: Object.entries(chains).map(([id, chain]) => {
			const chainId = Number(id);
			const deployed = deployment.chains.find((candidate) => candidate.chainId === chainId);
			if (!deployed) throw new ConfigError(path, `chains.${id}: the deployment file has no such chain`);
			return { ...chain, chainId, deployment: deployed };
		}),
	};
	if (solana) {
		const deployed = deployment.solana;
		if (!deployed) throw new ConfigError(path, "solana: the deployment file has no such chain");
		config.solana = { ...solana, chainId: deployed.chainId, deployment: deployed };
	}
	const problems = configProblems(config);
	if (problems.length > 0) throw new ConfigError(path, problems.join("\n"));
	return config;
}
