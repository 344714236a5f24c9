import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { maskUrls } from "@geoswap/keys/config/mask-url";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { type Deployment, deploymentSchema } from "@geoswap/protocol";
import * as z from "zod";
import { type Config, type ConfigFile, configSchema } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { configProblems } from "../../config/config-problems.ts";
import { joinDeployment } from "../../config/read-config.ts";

/** Reads the file as written, without defaults. It may name a deployment file that does not exist yet. */
export function readConfigFile(path: string): { file: ConfigFile; deploymentPath: string } {
	// The file is parsed only to find mistakes. The text's own content is written back.
	parseJsonFile(configSchema, path);
	const file = JSON.parse(readFileSync(path, "utf8")) as ConfigFile;
	return { file, deploymentPath: resolve(dirname(path), file.deployment) };
}

/** Reads the deployment file. Without one, nothing is deployed yet. */
export function readDeployment(path: string): Deployment {
	return existsSync(path) ? parseJsonFile(deploymentSchema, path) : { chains: [] };
}

/**
 * Returns the configuration of a file and a deployment. Throws with the problems for which the service would refuse
 * it.
 */
export function checkedConfig(path: string, file: ConfigFile, deployment: Deployment): Config {
	const parsed = configSchema.safeParse(file);
	if (!parsed.success) throw new ConfigError(path, maskUrls(z.prettifyError(parsed.error)));
	const config = joinDeployment(path, parsed.data, deployment);
	const problems = configProblems(config);
	if (problems.length > 0) throw new ConfigError(path, problems.join("\n"));
	return config;
}

/** Writes a file so that a reader gets the old or the new content, never a part. */
export function writeWhole(path: string, text: string): void {
	mkdirSync(dirname(path), { recursive: true });
	const unfinished = `${path}.${process.pid}.unfinished`;
	// A new file may contain endpoints with their keys, so only its owner can read it. An existing one keeps its mode.
	const mode = existsSync(path) ? statSync(path).mode : 0o600;
	writeFileSync(unfinished, text, { mode });
	renameSync(unfinished, path);
}
