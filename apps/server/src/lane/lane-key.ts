import type { Address } from "viem";

/**
 * The key of a lane: one relayer on one chain. Two bundles with one nonce would replace each other, and nonces are
 * counted per account and chain: nothing narrower serialises them, and anything wider would make relayers wait for
 * each other.
 */
export function laneKey({ chainId, relayer }: { chainId: number; relayer: Address }): string {
	return `${chainId}:${relayer.toLowerCase()}`;
}
