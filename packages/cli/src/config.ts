import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Deployment } from "@geoswap/protocol";
import { parsePins, type UnreadChain } from "@geoswap/sdk/pins";
import * as z from "zod";
import { CliError } from "./cli-error.ts";
import { firstIssue } from "./first-issue.ts";
import type { Io } from "./io.ts";

const configSchema = z.strictObject({
	baseUrl: z.url({ protocol: /^https?$/ }),
	deployment: z.strictObject({
		/** The file or address that it came from, for users. */
		source: z.string(),
		sha256: z.string().regex(/^sha256:[0-9a-f]{64}$/),
	}),
	/** Endpoints by chain id, which the caller chooses. Balances are read from them, not from the service. */
	rpc: z.record(z.string().regex(/^[1-9]\d*$/), z.url({ protocol: /^https?$/ })),
});
export type Config = z.infer<typeof configSchema>;
export type LoadedConfig = Config & { home: string; pins: Deployment };

export function homeOf({ env }: Pick<Io, "env">): string {
	// The path is part of the names in the keychain, so it must not depend on the working directory.
	return env.GEOSWAP_HOME ? resolve(env.GEOSWAP_HOME) : join(homedir(), ".config", "geoswap");
}

/** Reads the configuration with its pins. Throws unless the pins are those that were checked when they were stored. */
export async function readConfig(io: Pick<Io, "env">): Promise<LoadedConfig> {
	const home = homeOf(io);
	const settings = await findSettings(home);
	if (!settings) {
		throw new CliError(
			`There is no configuration in ${home}. Create one: geoswap init --base-url <url> --deployment <file>`,
			{ code: "NOT_CONFIGURED", section: "init" },
		);
	}
	const text = await readStoredPins(home, settings);
	return { ...settings, home, pins: parseDeployment(text, pinsPath(home)).pins };
}

/** Reads config.json, regardless of the state of the pins. Returns undefined if there is none yet. */
export async function findSettings(home: string): Promise<Config | undefined> {
	const path = join(home, "config.json");
	const text = await readIfThere(path);
	if (text === undefined) return undefined;
	const config = configSchema.safeParse(parseJson(text));
	if (config.success) return config.data;
	throw broken(path, firstIssue(config.error));
}

/** Returns the address of a page of the docs. The service serves it; its path is all that is known before `init`. */
export async function docsAddress(path: string, io: Pick<Io, "env">): Promise<string> {
	const settings = await findSettings(homeOf(io)).catch(() => undefined);
	return settings && path.startsWith("/") ? settings.baseUrl + path : path;
}

/** Reads the text of the pins. Throws unless it is the text that was stored. */
export async function readStoredPins(home: string, { deployment }: Config): Promise<string> {
	const path = pinsPath(home);
	const text = await readIfThere(path);
	if (text === undefined) throw broken(path, "it is missing");
	if (hashOf(text) === deployment.sha256) return text;
	throw broken(path, `it is not the file that was stored, whose hash is ${deployment.sha256}`);
}

/** Writes each file atomically, readable by its owner only. The pins come first, as config.json has their hash. */
export async function writeConfig(home: string, config: Config, deploymentText: string): Promise<void> {
	await mkdir(home, { recursive: true, mode: 0o700 });
	await replace(pinsPath(home), deploymentText);
	await replace(join(home, "config.json"), `${JSON.stringify(configSchema.parse(config), null, "\t")}\n`);
}

/** Reads the text of a deployment file. `unread` has the chains that this version cannot read. */
export function parseDeployment(text: string, source: string): { pins: Deployment; unread: UnreadChain[] } {
	try {
		return parsePins(parseJson(text));
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw new CliError(`${source}: ${error.message}`, { code: "INVALID_DEPLOYMENT", section: "init" });
	}
}

export function hashOf(text: string): string {
	return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function pinsPath(home: string): string {
	return join(home, "deployment.json");
}

async function replace(path: string, text: string): Promise<void> {
	const fresh = `${path}.${randomUUID()}.new`;
	await writeFile(fresh, text, { mode: 0o600, flush: true });
	// The umask can only reduce the mode above, never widen it. Nothing of a replaced file is kept.
	await chmod(fresh, 0o600);
	await rename(fresh, path);
}

function broken(path: string, why: string): CliError {
	return new CliError(`${path} cannot be used: ${why}. Fix it, or run geoswap init again.`, {
		code: "INVALID_CONFIG",
		section: "init",
	});
}

async function readIfThere(path: string): Promise<string | undefined> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw broken(path, (error as Error).message);
	}
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
