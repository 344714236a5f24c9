import { type AttesterSet, type Order, type Seconds, toChainId, usdCents } from "@geoswap/protocol";
import type { Hex } from "viem";
import { chainOf } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { AttestersWanted, ExposureCaps } from "../facts/facts.ts";
import type { UnopenedLimits } from "../facts/reservation.ts";
import type { DepositPolicy } from "./deposit-policy.ts";

export type ChainPolicy = DepositPolicy & {
	kind: "evm" | "solana";
	finalitySeconds: Seconds;
	/** The maximum time from signing until a transaction lands. 0 if transactions do not expire. */
	deadAfterSeconds: Seconds;
	/** Caps for inputs from this chain: delivered but not released, and delivered against deposits that are not final. */
	unreleasedCapUsd: number;
	unfinalCapUsd: number;
};

/** The rules and limits for one swap. */
export type SwapPolicy = {
	origin: ChainPolicy;
	destination: ChainPolicy;
	/** Number of attesters that decide it. */
	attesterThreshold: number;
	/** The share of the origin's caps that one account may take. */
	accountShareOfCaps: number;
	reservationSeconds: Seconds;
};

export type PolicyConfig = Pick<
	Config,
	"chains" | "deployment" | "earlierAttesterSets" | "limits" | "heartbeatSeconds"
>;

/** Returns the policy for an order; undefined if one of its chains is no longer configured. */
export function swapPolicy(config: PolicyConfig, order: Order): SwapPolicy | undefined {
	const [origin, destination] = chainsOf(config, order);
	if (!origin || !destination) return undefined;
	return {
		origin,
		destination,
		attesterThreshold: attestersWanted(config, order).threshold,
		accountShareOfCaps: config.limits.accountShareOfCaps,
		reservationSeconds: config.limits.reservationSeconds,
	};
}

/** Returns how much may be reserved for an account's swaps that are not open yet. */
export function unopenedLimits({ limits }: Pick<Config, "limits">): UnopenedLimits {
	const { unopenedShareOfInventory: shareOfInventory, unopenedUsdPerAccount: usd } = limits;
	const unopenedUsdCents = usd === undefined ? undefined : usdCents(usd);
	return { shareOfInventory, unopenedUsdCents };
}

/** Returns the attester set that an order names by its hash; undefined if it is unknown. */
export function attesterSetOf(
	{ deployment, earlierAttesterSets }: Pick<Config, "deployment" | "earlierAttesterSets">,
	hash: Hex,
): AttesterSet | undefined {
	const current = deployment.chains.map((chain) => chain.attesterSet);
	if (deployment.solana) current.push(deployment.solana.program.attesterSet);
	return [...current, ...earlierAttesterSets].find((set) => set.hash === hash);
}

/** Returns which of an order's attesters count as alive, and how many must be. */
export function attestersWanted(config: PolicyConfig, order: Order): AttestersWanted & { threshold: number } {
	const set = attesterSetOf(config, order.attesterSet);
	const finality = chainsOf(config, order).map((chain) => chain?.finalitySeconds ?? 0);
	const { heartbeatSeconds } = config;
	return {
		attesters: set?.attesters ?? [],
		chainIds: [toChainId(order.originChainId), toChainId(order.destinationChainId)],
		heartbeatSeconds,
		// Finality advances in leaps, and a heartbeat that was signed a while ago cannot include the latest ones.
		sightSeconds: 2 * (heartbeatSeconds + Math.max(...finality)),
		// An unknown set never has enough attesters alive.
		threshold: set?.threshold ?? Number.POSITIVE_INFINITY,
	};
}

/** Returns how much may be at risk for inputs from a swap's origin. */
export function exposureCaps({
	origin: { unreleasedCapUsd, unfinalCapUsd },
	accountShareOfCaps: share,
}: Pick<SwapPolicy, "origin" | "accountShareOfCaps">): ExposureCaps {
	return {
		unreleasedUsdCents: usdCents(unreleasedCapUsd),
		unfinalUsdCents: usdCents(unfinalCapUsd),
		ofAccount: {
			unreleasedUsdCents: usdCents(unreleasedCapUsd * share),
			unfinalUsdCents: usdCents(unfinalCapUsd * share),
		},
	};
}

function chainsOf(config: Pick<Config, "chains">, order: Order): (ChainPolicy | undefined)[] {
	return [order.originChainId, order.destinationChainId].map((chainId) => chainPolicy(config, chainId));
}

/** Returns the policy for a chain; undefined if it is not configured. */
export function chainPolicy(config: Pick<Config, "chains">, chainId: bigint): ChainPolicy | undefined {
	return chainOf(config, chainId);
}
