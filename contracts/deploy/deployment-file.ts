import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import {
	type ChainDeployment,
	type Deployment,
	deploymentSchema,
	formatDeployment,
	withChainDeployment,
} from "@geoswap/protocol";
import * as z from "zod";
import { DeployError } from "./deploy-error.ts";

/** The deployments of all chains so far; none if there is no file yet. */
export function readDeploymentFile(path: string): Deployment {
	if (!existsSync(path)) return { chains: [] };
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(path, "utf8"));
	} catch (cause) {
		throw new DeployError(`${path} is there but is not JSON`, { next: notOurs, cause });
	}
	const parsed = deploymentSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	throw new DeployError(`${path} is there but is not a deployment file:\n${z.prettifyError(parsed.error)}`, {
		next: notOurs,
	});
}

/** Adds or updates one chain's entry. */
export function updateDeploymentFile(path: string, chain: ChainDeployment): void {
	const text = formatDeployment(withChainDeployment(readDeploymentFile(path), chain));
	// A reader sees the old file or the new one, never half of it.
	const unfinished = `${path}.${process.pid}.unfinished`;
	writeFileSync(unfinished, text);
	renameSync(unfinished, path);
}

const notOurs = "mend it, or name another file with --out";
