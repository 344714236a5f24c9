import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { type Deployment, deploymentSchema } from "@geoswap/protocol";
import { defaultDataDir, defaultPort, type SolanaEndpoint } from "../devnet-files.ts";
import { isRunning } from "../is-running.ts";
import { baseEnvironment } from "./server-command.ts";
import type { StackEndpoint } from "./stack-config.ts";

/** How another terminal reaches a running stack. */
export type RunningStack = {
	pid: number;
	baseUrl: string;
	apiKey: string;
	chains: readonly StackEndpoint[];
	solana?: SolanaEndpoint;
	/** Path relative to the file. */
	deployment: string;
	keys: string;
};

export const defaultStackPort = 8700;
const environmentFile = "server.env";

/** Returns the default folder. A stack on other ports gets its own, so that two side by side do not mix. */
export function stackDataDir(port = defaultStackPort): string {
	return defaultDataDir(port === defaultStackPort ? defaultPort : port);
}

export function writeStackFile(dataDir: string, running: RunningStack): string {
	const path = stackFile(dataDir);
	// The old file is removed because an existing file would keep its mode.
	rmSync(path, { force: true });
	writeFileSync(path, `${JSON.stringify(running, null, "\t")}\n`, { mode: 0o600 });
	return path;
}

/**
 * Writes the secrets of a running stack for the server's commands, as `node --env-file` and a shell read them. Only its
 * owner can read the file.
 */
export function writeServerEnvironment(dataDir: string, environment: Record<string, string>): void {
	const names = Object.keys(environment).filter((name) => !(name in baseEnvironment()));
	const path = join(dataDir, environmentFile);
	rmSync(path, { force: true });
	// Only a URL can have a quote in it, and there this means the same.
	const lines = names.map((name) => `${name}='${environment[name]?.replaceAll("'", "%27")}'\n`);
	writeFileSync(path, lines.join(""), { mode: 0o600 });
}

/** Returns the secrets of the stack that runs from a folder, or undefined. */
export function readServerEnvironment(dataDir: string): NodeJS.Dict<string> | undefined {
	if (!readStackFile(dataDir)) return undefined;
	return parseEnv(readFileSync(join(dataDir, environmentFile), "utf8"));
}

/** Removes the files that another terminal needs to reach a stack, because it ends. */
export function removeStackFiles(dataDir: string): void {
	rmSync(stackFile(dataDir), { force: true });
	rmSync(join(dataDir, environmentFile), { force: true });
}

/** Returns the stack that runs from a folder, or undefined. */
export function readStackFile(
	dataDir: string,
): (Omit<RunningStack, "deployment"> & { deployment: Deployment }) | undefined {
	let running: RunningStack;
	try {
		running = JSON.parse(readFileSync(stackFile(dataDir), "utf8"));
	} catch {
		return undefined;
	}
	// A killed stack leaves the file behind.
	if (!isRunning(running.pid)) return undefined;
	const deployment = readFileSync(join(dataDir, running.deployment), "utf8");
	return { ...running, deployment: deploymentSchema.parse(JSON.parse(deployment)) };
}

function stackFile(dataDir: string): string {
	return join(dataDir, "stack.json");
}
