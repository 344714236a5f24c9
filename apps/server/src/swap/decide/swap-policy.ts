import { type AttesterSet, isSolana, type Order, toChainId, usdCents } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { ChainConfig, Config } from "../../config/config.ts";
import type { AttestersWanted } from "../facts/attesters-wanted.ts";
import type { ExposureCaps } from "../facts/exposure-caps.ts";
import type { UnopenedLimits } from "../facts/reservation.ts";
import type { DepositPolicy } from "./deposit-depth.ts";

export type ChainPolicy = DepositPolicy & {
	kind: "evm" | "solana";
	finalitySeconds: number;
	/** How long a transaction that was just signed may take to land, at most. 0 where none dies by itself. */
	deadAfterSeconds: number;
	/** Of inputs from this chain: what may be delivered and not released, and against deposits that are not final. */
	unreleasedCapUsd: number;
	unfinalCapUsd: number;
};

/** How careful to be with one swap. */
export type SwapPolicy = {
	origin: ChainPolicy;
	destination: ChainPolicy;
	/** How many attesters decide it. None where the origin is Solana: there the input is in the service's custody. */
	attesterThreshold: number;
	reservationSeconds: number;
};

export type PolicyConfig = Pick<
	Config,
	"chains" | "solana" | "deployment" | "earlierAttesterSets" | "limits" | "heartbeatSeconds"
>;

/** The policy for an order, or undefined where one of its chains is not ours any more. */
export function swapPolicy(config: PolicyConfig, order: Order): SwapPolicy | undefined {
	const [origin, destination] = chainsOf(config, order);
	if (!origin || !destination) return undefined;
	return {
		origin,
		destination,
		attesterThreshold: attestersWanted(config, order).threshold,
		reservationSeconds: config.limits.reservationSeconds,
	};
}

/** How much may be reserved for an account's swaps that are not open yet. */
export function unopenedLimits({ limits }: Pick<Config, "limits">): UnopenedLimits {
	const { unopenedShareOfStock: shareOfStock, unopenedUsdPerAccount: usd } = limits;
	const unopenedUsdCents = usd === undefined ? undefined : usdCents(usd);
	return { shareOfStock, unopenedUsdCents };
}

/** The attesters that an order names. */
export function attesterSetOf(
	{ deployment, earlierAttesterSets }: Pick<Config, "deployment" | "earlierAttesterSets">,
	hash: Hex,
): AttesterSet | undefined {
	const current = deployment.chains.map((chain) => chain.attesterSet);
	return [...current, ...earlierAttesterSets].find((set) => set.hash === hash);
}

/** An input on Solana needs no one's word: its escrow is a key of the service. */
const nobody = { attesters: [], threshold: 0 };

/** Who of an order's attesters counts as alive, and how many must be. */
export function attestersWanted(config: PolicyConfig, order: Order): AttestersWanted & { threshold: number } {
	const set = isSolana(order.originChainId) ? nobody : attesterSetOf(config, order.attesterSet);
	const finality = chainsOf(config, order).map((chain) => chain?.finalitySeconds ?? 0);
	const { heartbeatSeconds } = config;
	return {
		attesters: set?.attesters ?? [],
		chainIds: [toChainId(order.originChainId), toChainId(order.destinationChainId)],
		heartbeatSeconds,
		// Finality comes in leaps, and what was signed a while ago could not tell of the last ones.
		sightSeconds: 2 * (heartbeatSeconds + Math.max(...finality)),
		// A set that nobody knows never has enough of its attesters alive.
		threshold: set?.threshold ?? Number.POSITIVE_INFINITY,
	};
}

/** What may be at risk of inputs from a chain. */
export function exposureCaps({ unreleasedCapUsd, unfinalCapUsd }: ChainPolicy): ExposureCaps {
	return { unreleasedUsdCents: usdCents(unreleasedCapUsd), unfinalUsdCents: usdCents(unfinalCapUsd) };
}

function chainsOf(config: Pick<Config, "chains" | "solana">, order: Order): (ChainPolicy | undefined)[] {
	return [order.originChainId, order.destinationChainId].map((chainId) => chainPolicy(config, chainId));
}

/** The policy for a chain, or undefined where it is not configured. */
export function chainPolicy(
	{ chains, solana }: Pick<Config, "chains" | "solana">,
	chainId: bigint,
): ChainPolicy | undefined {
	if (isSolana(chainId)) {
		const deadAfterSeconds = solana?.blockhashSeconds.most ?? 0;
		return solana && { kind: "solana", ...solana, deadAfterSeconds, ...agreement(solana) };
	}
	const chain = chains.find((candidate) => BigInt(candidate.chainId) === chainId);
	return chain && { kind: "evm", ...chain, deadAfterSeconds: 0, ...agreement(chain) };
}

function agreement({
	secondProvider,
}: Pick<ChainConfig, "secondProvider">): Pick<ChainPolicy, "agreeAboveUsd"> {
	return secondProvider ? { agreeAboveUsd: secondProvider.agreeAboveUsd } : {};
}
