import { dirname, resolve } from "node:path";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { type Deployment, deploymentSchema } from "@geoswap/protocol";
import type * as z from "zod";
import { type ChainConfig, evmChainConfig, solanaChainConfig } from "./chain-config.ts";
import { type Config, configSchema } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configProblems } from "./config-problems.ts";

/** Reads a configuration file and the deployment file that it names. Throws a message that an operator can act on. */
export function readConfig(path: string): Config {
	const file = parseJsonFile(configSchema, path);
	const deployment = parseJsonFile(deploymentSchema, resolve(dirname(path), file.deployment));
	const config = joinDeployment(path, file, deployment);
	if (config.denyList?.file !== undefined) {
		config.denyList = { ...config.denyList, file: resolve(dirname(path), config.denyList.file) };
	}
	const problems = configProblems(config);
	if (problems.length > 0) throw new ConfigError(path, problems.join("\n"));
	return config;
}

/** Joins each chain's terms in the file with its deployment. Throws if the deployment lacks a chain. */
export function joinDeployment(
	path: string,
	{ chains, solana, ...file }: z.output<typeof configSchema>,
	deployment: Deployment,
): Config {
	const joined: ChainConfig[] = Object.entries(chains).map(([id, terms]) => {
		const deployed = deployment.chains.find(({ chainId }) => chainId === Number(id));
		if (!deployed) throw new ConfigError(path, `chains.${id}: the deployment file has no such chain`);
		return evmChainConfig(terms, deployed);
	});
	if (solana) {
		if (!deployment.solana) throw new ConfigError(path, "solana: the deployment file has no such chain");
		joined.push(solanaChainConfig(solana, deployment.solana));
	}
	return { ...file, deployment, chains: joined };
}
