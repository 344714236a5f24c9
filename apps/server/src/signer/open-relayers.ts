import type { EvmSigner } from "@geoswap/keys/signer";
import { ConfigError } from "../config/config-error.ts";
import type { WorkerKeys } from "../config/role-keys.ts";
import { type KeyOpening, openChainKeys } from "./open-chain-keys.ts";

const variable = "GEOSWAP_RELAYER_KEYS";

/** Returns where the operator names the relayers' keys. */
export function relayersField({ relayers }: Pick<WorkerKeys, "relayers">): string {
	return relayers ? "keys.relayers" : variable;
}

/** Opens the keys of a chain's relayers. Throws a message that an operator can act on. */
export async function openRelayers(chainId: number, opening: KeyOpening): Promise<EvmSigner[]> {
	const { keys } = opening;
	const field = relayersField(keys);
	const references = keys.relayers && (keys.relayers[String(chainId)] ?? []);
	const relayers = await openChainKeys(chainId, { ...opening, references, variable, field });
	const twice = relayers.find(({ address }, i) => relayers.findIndex((one) => one.address === address) !== i);
	// Two lanes would use the same nonces.
	if (twice) throw new ConfigError(field, `has the key of ${twice.address} twice for chain ${chainId}`);
	return relayers;
}
