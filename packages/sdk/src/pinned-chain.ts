import type { ChainDeployment, Deployment } from "@geoswap/protocol";
import { expectAttesterSet } from "./expect-attester-set.ts";
import { VerificationError } from "./verification-error.ts";

/**
 * Returns the caller's pins of a chain. Pins are the caller's own copy of the operator's deployment file, with the
 * contracts and attesters that are trusted regardless of what the service returns. Throws if the chain is not pinned,
 * or if its pins are inconsistent.
 */
export function pinnedChain(
	pins: Deployment,
	{
		field,
		chainId,
	}: {
		/** The field that the chain id comes from, for the error. */
		field: string;
		chainId: number;
	},
): ChainDeployment {
	const chain = pins.chains.find((candidate) => candidate.chainId === chainId);
	if (chain === undefined) {
		const pinned = pins.chains.map((candidate) => candidate.chainId).join(", ");
		throw new VerificationError({ field, expected: `a pinned chain (${pinned})`, actual: chainId });
	}
	expectAttesterSet(chainId, chain.attesterSet);
	return chain;
}
