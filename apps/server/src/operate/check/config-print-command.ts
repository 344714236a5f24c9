import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { maskUrl } from "../../config/mask-url.ts";
import { readConfig } from "../../config/read-config.ts";
import { secretNames } from "../../config/secrets.ts";

/**
 * Prints a configuration file with all defaults, as JSON. Of endpoints only the hosts are shown, because URLs often
 * hold a key.
 */
export function configPrintCommand({ config, env = false }: { config: string; env?: boolean }): void {
	const environment = Object.fromEntries(
		secretNames.map((name) => [name, process.env[name] ? "set" : "missing"]),
	);
	console.log(
		JSON.stringify(
			{ ...asInFile(readConfig(config)), ...(env && { environment }) },
			(_, value: unknown) => (isUrl(value) ? maskUrl(value) : value),
			"\t",
		),
	);
}

/** Returns the configuration with Solana apart from the EVM chains, as in the file. */
function asInFile(config: Config) {
	return { ...config, chains: evmChains(config), solana: solanaChain(config) };
}

function isUrl(value: unknown): value is string {
	return typeof value === "string" && /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}
