import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
	type ChainDeployment,
	type Deployment,
	deploymentSchema,
	formatDeployment,
	withChainDeployment,
} from "@geoswap/protocol";
import * as z from "zod";
import { DeployError } from "./deploy-error.ts";

/** Reads the current deployments of all chains. There are none if there is no file yet. */
export function readDeploymentFile(path: string): Deployment {
	if (!existsSync(path)) return { chains: [] };
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(path, "utf8"));
	} catch (cause) {
		throw new DeployError(`${path} exists but is not JSON`, { next: notOurs, cause });
	}
	const parsed = deploymentSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	throw new DeployError(`${path} exists but is not a deployment file:\n${z.prettifyError(parsed.error)}`, {
		next: notOurs,
	});
}

/** Adds or updates one chain's entry, and returns it as it now is in the file. */
export function updateDeploymentFile(path: string, chain: ChainDeployment): ChainDeployment {
	const deployment = withChainDeployment(readDeploymentFile(path), chain);
	// A reader gets the old file or the new one, never half of it.
	writeFileSync(unfinished(path), formatDeployment(deployment));
	renameSync(unfinished(path), path);
	return deployment.chains.find(({ chainId }) => chainId === chain.chainId) ?? chain;
}

/** Throws if the file could not be written at this path, because after the hand-over it is too late to find out. */
export function expectWritable(path: string): void {
	const folder = dirname(path);
	if (!existsSync(folder)) {
		throw new DeployError(`there is no folder ${folder} for the deployment file`, {
			next: "create it, or name another file with --out",
		});
	}
	try {
		writeFileSync(unfinished(path), "");
		rmSync(unfinished(path));
	} catch (cause) {
		throw new DeployError(`${path} cannot be written: ${(cause as Error).message}`, {
			next: "make its folder writable, or name another file with --out",
			cause,
		});
	}
}

function unfinished(path: string): string {
	return `${path}.${process.pid}.unfinished`;
}

const notOurs = "fix it, or name another file with --out";
