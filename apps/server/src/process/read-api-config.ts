import { solanaChain } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { readConfig } from "../config/read-config.ts";
import { refuseSolanaDevelopmentKeys } from "../operate/preflight/refuse-solana-development-keys.ts";

/** Reads the configuration that an API serves. Throws a message that a person can act on. */
export function readApiConfig(path: string): Config {
	const config = readConfig(path);
	const solana = solanaChain(config);
	if (solana) refuseSolanaDevelopmentKeys(solana.deployment);
	return config;
}
