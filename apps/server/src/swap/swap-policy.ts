import type { AttesterSet, Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Config } from "../config.ts";

export type ChainPolicy = {
	/** By value: how many blocks after its own an event counts. Above all of them, when final. */
	depths: readonly { upToUsd: number; blocks: number }[];
	finalitySeconds: number;
};

/** How careful to be with one swap. */
export type SwapPolicy = {
	origin: ChainPolicy;
	destination: ChainPolicy;
	/** How many attesters decide it. */
	attesterThreshold: number;
	reservationSeconds: number;
};

/** The policy for an order, or undefined where one of its chains is not ours any more. */
export function swapPolicy(
	config: Pick<Config, "chains" | "deployment" | "limits">,
	order: Order,
): SwapPolicy | undefined {
	const origin = config.chains.find((chain) => BigInt(chain.chainId) === order.originChainId);
	const destination = config.chains.find((chain) => BigInt(chain.chainId) === order.destinationChainId);
	if (!origin || !destination) return undefined;
	const set = attesterSetOf(config, order.attesterSet);
	return {
		origin,
		destination,
		// A set that nobody knows never has enough of its attesters alive.
		attesterThreshold: set?.threshold ?? Number.POSITIVE_INFINITY,
		reservationSeconds: config.limits.reservationSeconds,
	};
}

/** The attesters that an order names. */
export function attesterSetOf(
	{ deployment }: Pick<Config, "deployment">,
	hash: Hex,
): AttesterSet | undefined {
	return deployment.chains.find((chain) => chain.attesterSet.hash === hash)?.attesterSet;
}
