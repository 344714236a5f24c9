import { dirname, resolve } from "node:path";
import { deploymentSchema } from "@geoswap/protocol";
import { type Config, configSchema } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configProblems } from "./config-problems.ts";
import { joinDeployment } from "./join-deployment.ts";
import { parseJsonFile } from "./parse-json-file.ts";

/** Reads a configuration file and the deployment file that it names. Throws a message that an operator can act on. */
export function readConfig(path: string): Config {
	const file = parseJsonFile(configSchema, path);
	const deployment = parseJsonFile(deploymentSchema, resolve(dirname(path), file.deployment));
	const config = joinDeployment(path, file, deployment);
	const problems = configProblems(config);
	if (problems.length > 0) throw new ConfigError(path, problems.join("\n"));
	return config;
}
