import { isDevelopmentChain } from "@geoswap/keys/development/is-development-chain";
import { parseRelayerKeys } from "@geoswap/keys/parse-keys";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { EvmSigner } from "@geoswap/keys/signer";
import { ConfigError } from "../config/config-error.ts";
import type { WorkerKeys } from "../config/role-keys.ts";
import { readSecret } from "../config/secrets.ts";
import type { Signers } from "./open-signers.ts";

/** Returns where the operator names the relayers' keys. */
export function relayersField({ relayers }: Pick<WorkerKeys, "relayers">): string {
	return relayers ? "keys.relayers" : "GEOSWAP_RELAYER_KEYS";
}

/** Opens the keys of a chain's relayers. Throws a message that an operator can act on. */
export async function openRelayers(
	chainId: number,
	{
		keys,
		signers,
		environment = process.env,
	}: { keys: WorkerKeys; signers: Signers; environment?: NodeJS.ProcessEnv },
): Promise<EvmSigner[]> {
	const field = relayersField(keys);
	const relayers = keys.relayers
		? await Promise.all((keys.relayers[String(chainId)] ?? []).map((reference) => signers.openEvm(reference)))
		: parseRelayerKeys(readSecret("GEOSWAP_RELAYER_KEYS", environment))
				.filter((key) => key.chainId === chainId)
				.map(({ secret }) => signers.evmOf({ reference: `env:${field}`, backend: "env" }, secret));
	if (relayers.length === 0) throw new ConfigError(field, `has no key for chain ${chainId}`);
	const twice = relayers.find(({ address }, i) => relayers.findIndex((one) => one.address === address) !== i);
	// Two lanes would use the same nonces.
	if (twice) throw new ConfigError(field, `has the key of ${twice.address} twice for chain ${chainId}`);
	refusePlainKeys(relayers, { keys, signers, isDevelopment: isDevelopmentChain(chainId) });
	return relayers;
}
