import type { EvmSigner } from "@geoswap/keys/signer";
import type { Address } from "viem";
import { ConfigError } from "../config/config-error.ts";
import type { WorkerKeys } from "../config/role-keys.ts";
import { type KeyOpening, openChainKeys } from "./open-chain-keys.ts";

const variable = "GEOSWAP_TREASURER_KEYS";

/** Returns where the operator names the treasurers' keys. */
export function treasurersField({ treasurers }: Pick<WorkerKeys, "treasurers">): string {
	return treasurers ? "keys.treasurers" : variable;
}

/** Opens the treasurer's key of a chain. Throws a message that an operator can act on. */
export async function openTreasurer(chainId: number, opening: KeyOpening): Promise<EvmSigner> {
	const { keys } = opening;
	const field = treasurersField(keys);
	const reference = keys.treasurers?.[String(chainId)];
	const references = keys.treasurers && (reference === undefined ? [] : [reference]);
	const [treasurer, other] = await openChainKeys(chainId, { ...opening, references, variable, field });
	// Moves of one chain are sent one after the other by one lane.
	if (!treasurer || other) throw new ConfigError(field, `has more than one key for chain ${chainId}`);
	return treasurer;
}

/**
 * Throws if a chain's treasurer has a key of another purpose. Two lanes would use the same nonces, and one stolen key
 * must not have two roles.
 */
export function refuseSharedTreasurer(
	treasurer: Address,
	{
		chainId,
		relayers,
		attesters,
		field,
	}: {
		chainId: number;
		/** The chain's relayers. */
		relayers: readonly Address[];
		/** The attesters of the chain, or of all chains. */
		attesters: readonly Address[];
		/** The field or variable in which the operator names the treasurers' keys. */
		field: string;
	},
): void {
	const other = relayers.includes(treasurer)
		? "a relayer there"
		: attesters.includes(treasurer)
			? "an attester"
			: undefined;
	if (other)
		throw new ConfigError(
			field,
			`the key of ${treasurer} for chain ${chainId} is also the key of ${other}; use a separate key for each`,
		);
}
