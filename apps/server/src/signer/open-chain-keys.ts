import type { KeyReference } from "@geoswap/keys/config/key-reference";
import { isDevelopmentChain } from "@geoswap/keys/development/is-development-chain";
import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { parseChainKeys } from "@geoswap/keys/parse-keys";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { EvmSigner } from "@geoswap/keys/signer";
import { ConfigError } from "../config/config-error.ts";
import type { WorkerKeys } from "../config/role-keys.ts";
import { readSecret, type SecretName } from "../config/secrets.ts";
import type { Signers } from "./open-signers.ts";

export type KeyOpening = { keys: WorkerKeys; signers: Signers; environment?: NodeJS.ProcessEnv };

/**
 * Opens a worker's EVM keys of one purpose on a chain: those that the configuration names or, if it names none for any
 * chain, those of the environment's variable. Throws a message that an operator can act on.
 */
export async function openChainKeys(
	chainId: number,
	{
		references,
		variable,
		field,
		keys,
		signers,
		environment = process.env,
	}: KeyOpening & {
		/** Absent if the configuration names no key for this purpose. */
		references: readonly KeyReference[] | undefined;
		variable: SecretName;
		/** The field or variable in which the operator names these keys. */
		field: string;
	},
): Promise<EvmSigner[]> {
	const opened = references
		? await Promise.all(references.map((reference) => signers.openEvm(reference)))
		: parseChainKeys(variable, readSecret(variable, environment))
				.filter((key) => key.chainId === chainId)
				.map(({ secret }) => signers.evmOf({ reference: `env:${variable}`, backend: "env" }, secret));
	if (opened.length === 0) throw new ConfigError(field, `has no key for chain ${chainId}; add one`);
	refusePlainKeys(opened, { keys, signers, isDevelopment: isDevelopmentChain(chainId) });
	refuseDevelopmentKeys(
		opened.map(({ address }) => address),
		[chainId],
	);
	return opened;
}
