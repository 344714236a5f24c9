import type { ChainDeployment, SolanaDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { createFeedPricing, type SpreadBps } from "./feed-pricing.ts";
import { createLadderPricing } from "./ladder-pricing.ts";
import type { Pricing } from "./pricing.ts";
import type { PricedToken } from "./usd-value.ts";

type AssetId = { chainId: number; asset: Address };

/** Prices of every chain, in memory, as of the last few blocks. Each chain's are made in their own way. */
export type PriceBook = {
	/** Of an EVM chain: prices of others follow from its feeds. */
	update: (prices: BlockPrices, options: { nowMs: number }) => void;
	/** Whether the chain has prices, and new ones. */
	isReady: (chainId: number, options: { nowMs: number }) => boolean;
	/** How old the newest prices are; undefined before the first. */
	ageMs: (chainId: number, options: { nowMs: number }) => number | undefined;
	/** Whether the asset may be priced: its chain's prices and its feed are fresh, and pools, where there are, agree. */
	isLive: (id: AssetId, options: { nowMs: number }) => boolean;
	/** Whether its chain's prices and its feed alone are fresh. */
	isReferenceLive: (id: AssetId, options: { nowMs: number }) => boolean;
	/** What the asset brings in the settlement token. Undefined beyond a ladder. */
	sell: (id: AssetId & { amount: bigint; inFlight?: bigint }) => bigint | undefined;
	/** What the budget, in the settlement token, buys, and on which pools, where it is pools. Undefined beyond a ladder. */
	buy: (
		id: AssetId & { budget: bigint; inFlight?: bigint },
	) => { output: bigint; fees: number[] } | undefined;
	/** The asset at its feed's price. Only where that is live. */
	reference: (id: AssetId) => PricedToken;
	/** When the asset's feed was last written; undefined before the first price. */
	feedUpdatedAtUnixSeconds: (id: AssetId) => number | undefined;
	/** The highest base fee of the last blocks; on Solana what a signature costs. */
	baseFee: (chainId: number) => bigint;
	/** How long a block takes, as the last ones did; at least a second but on Solana. */
	blockSeconds: (chainId: number) => number;
};

export function createPriceBook({
	chains,
	solana,
	feedMarginBps,
	feedDeviationBps,
}: {
	chains: readonly ChainDeployment[];
	/** Absent where it is not offered. */
	solana?: { deployment: SolanaDeployment; spreadBps: SpreadBps } | undefined;
	/** How far above the feeds a price may be. */
	feedMarginBps: number;
	/** How far a pool may be from the feeds before its asset stops. */
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
