import type { Amount, ChainDeployment, Milliseconds, SolanaDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { createFeedPricing, type SpreadBps } from "./feed-pricing.ts";
import { createLadderPricing } from "./ladder-pricing.ts";
import type { Pricing } from "./pricing.ts";
import type { PricedToken } from "./usd-value.ts";

type AssetId = { chainId: number; asset: Address };

/** Prices of all chains, in memory, as of the last few blocks. Chains differ in how they are priced. */
export type PriceBook = {
	/** Adds a block of an EVM chain. Prices of other chains follow from its feeds. */
	update: (prices: BlockPrices, options: { nowMs: Milliseconds }) => void;
	/** True if the chain has fresh prices. */
	isReady: (chainId: number, options: { nowMs: Milliseconds }) => boolean;
	/** Returns the age of the newest prices; undefined before the first. */
	ageMs: (chainId: number, options: { nowMs: Milliseconds }) => number | undefined;
	/** True if the asset may be priced: its chain's prices and its feed are fresh, and its pools, if any, agree. */
	isLive: (id: AssetId, options: { nowMs: Milliseconds }) => boolean;
	/** True if the chain's prices and the asset's feed are fresh, whatever the pools say. */
	isReferenceLive: (id: AssetId, options: { nowMs: Milliseconds }) => boolean;
	/** Returns the proceeds in the settlement token. Undefined beyond the ladder. */
	sell: (id: AssetId & { amount: Amount; inFlight?: Amount }) => bigint | undefined;
	/**
	 * Returns what the budget, in the settlement token, buys, with the pools' fee tiers if it uses pools. Undefined
	 * beyond the ladder.
	 */
	buy: (
		id: AssetId & { budget: Amount; inFlight?: Amount },
	) => { output: Amount; fees: number[] } | undefined;
	/** Returns the asset at its feed's price. Requires that the feed is live. */
	reference: (id: AssetId) => PricedToken;
	/** Returns when the asset's feed was last updated; undefined before the first price. */
	feedUpdatedAtUnixSeconds: (id: AssetId) => number | undefined;
	/** Returns the highest base fee of the last blocks; on Solana the fee per signature. */
	baseFee: (chainId: number) => bigint;
	/** Returns the block time of the last blocks, at least one second except on Solana. */
	blockSeconds: (chainId: number) => number;
};

export function createPriceBook({
	chains,
	solana,
	feedMarginBps,
	feedDeviationBps,
}: {
	chains: readonly ChainDeployment[];
	/** Absent if Solana is not offered. */
	solana?: { deployment: SolanaDeployment; spreadBps: SpreadBps } | undefined;
	/** The margin by which a price may exceed the feeds. */
	feedMarginBps: number;
	/** The deviation of a pool from the feeds at which its asset is stopped. */
	feedDeviationBps: number;
}): PriceBook {
	const byLadders = new Map(
		chains.map((deployment) => [
			deployment.chainId,
			createLadderPricing({ deployment, feedMarginBps, feedDeviationBps }),
		]),
	);
	const pricings = new Map<number, Pricing>(byLadders);
	if (solana) {
		pricings.set(solana.deployment.chainId, createFeedPricing({ ...solana, feedChains: byLadders }));
	}

	return {
		update: (prices, options) => {
			const ladders = byLadders.get(prices.chainId);
			if (!ladders) throw new RangeError(`the book has no chain ${prices.chainId}`);
			ladders.update(prices, options);
		},
		isReady: (chainId, options) => pricings.get(chainId)?.isReady(options) ?? false,
		ageMs: (chainId, options) => pricings.get(chainId)?.ageMs(options),
		isLive: ({ chainId, asset }, options) => pricings.get(chainId)?.isLive(asset, options) ?? false,
		isReferenceLive: ({ chainId, asset }, options) =>
			pricings.get(chainId)?.isReferenceLive(asset, options) ?? false,
		sell: ({ chainId, inFlight = 0n, ...sale }) => pricingOf(chainId).sell({ ...sale, inFlight }),
		buy: ({ chainId, inFlight = 0n, ...purchase }) => pricingOf(chainId).buy({ ...purchase, inFlight }),
		reference: ({ chainId, asset }) => pricingOf(chainId).reference(asset),
		feedUpdatedAtUnixSeconds: ({ chainId, asset }) => pricings.get(chainId)?.feedUpdatedAtUnixSeconds(asset),
		baseFee: (chainId) => pricingOf(chainId).baseFee(),
		blockSeconds: (chainId) => pricingOf(chainId).blockSeconds(),
	};

	function pricingOf(chainId: number): Pricing {
		const pricing = pricings.get(chainId);
		if (!pricing) throw new RangeError(`the book has no chain ${chainId}`);
		return pricing;
	}
}
