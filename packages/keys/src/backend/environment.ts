import { ConfigError } from "../config/config-error.ts";
import { evmSignerOf } from "../evm-signer-of.ts";
import { parseEvmKey, parseSolanaKey } from "../parse-keys.ts";
import { solanaSignerOf } from "../solana-signer-of.ts";
import type { Backend } from "./backend.ts";
import { memoryDigestKey, memoryMessageKey } from "./memory-key.ts";

/** Opens keys that are in variables of the environment, one in each. Anyone who can read the process can read them. */
export function openEnvironment(environment: NodeJS.ProcessEnv): Backend {
	const read = (variable: string): string => {
		const text = environment[variable];
		if (!text)
			throw new ConfigError(variable, "is not set in the environment, and the configuration names it");
		return text;
	};
	return {
		openEvm: async ({ name, rest }) => evmSignerOf(memoryDigestKey(name, parseEvmKey(rest, read(rest)))),
		openSolana: async ({ name, rest }) =>
			solanaSignerOf(memoryMessageKey(name, parseSolanaKey(rest, read(rest)))),
	};
}
