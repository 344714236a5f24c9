import type { Amount, ChainDeployment, Milliseconds, SolanaDeployment, Wei } from "@geoswap/protocol";
import type { Address } from "viem";
import type { TransactionShape } from "../../chain/evm/fee/fee-model.ts";
import type { AssetPrices, BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { createFeedPricing, type SpreadBps } from "./feed-pricing.ts";
import { createLadderPricing, type LadderPricing } from "./ladder-pricing.ts";
import type { PriceStop } from "./price-stop.ts";
import type { Pricing } from "./pricing.ts";
import type { QuoterLadders } from "./quoter-ladders.ts";
import type { ReferenceTerms } from "./reference-problem.ts";
import type { PricedToken } from "./usd-value.ts";

type AssetId = { chainId: number; asset: Address };

/** Prices of all chains, in memory, as of the last few blocks. Chains differ in how they are priced. */
export type PriceCache = {
	/** Adds a block of an EVM chain. Prices of other chains follow from its feeds. */
	update: (prices: BlockPrices, options: { nowMs: Milliseconds }) => void;
	/** True if the chain has fresh prices. */
	isReady: (chainId: number, options: { nowMs: Milliseconds }) => boolean;
	/** Returns the age of the newest prices; undefined before the first. */
	ageMs: (chainId: number, options: { nowMs: Milliseconds }) => number | undefined;
	/** True if the asset may be priced, so its chain's prices and its feed are fresh, and its pools, if any, agree. */
	isLive: (id: AssetId, options: { nowMs: Milliseconds }) => boolean;
	/** Returns why the asset may not be priced; undefined if it may. */
	stopOf: (id: AssetId, options: { nowMs: Milliseconds }) => PriceStop | undefined;
	/** Returns why the asset's reference price may not be used; undefined if it may. */
	referenceStopOf: (id: AssetId, options: { nowMs: Milliseconds }) => PriceStop | undefined;
	/** Returns the difference between the asset's two references; undefined if there are no two. */
	referencesApartBps: (id: AssetId, options: { nowMs: Milliseconds }) => number | undefined;
	/** True if the chain's prices and the asset's feed are fresh, regardless of the pools. */
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
	/** Returns the ladders of the asset's pools in the newest block. Undefined if there is none, and on Solana. */
	ladders: (id: AssetId) => Pick<AssetPrices, "buy" | "sell"> | undefined;
	/** Returns the asset at its feed's price. Requires that the feed is live. */
	reference: (id: AssetId) => PricedToken;
	/** Returns when the asset's feed was last updated; undefined before the first price. */
	feedUpdatedAtUnixSeconds: (id: AssetId) => number | undefined;
	/** Returns what a transaction of an EVM chain would cost its sender at the newest block's fees, rounded up. */
	transactionCost: (chainId: number, transaction: TransactionShape) => Wei;
	/** Returns the tip per unit of gas; undefined before the first block and on Solana. */
	tip: (chainId: number) => Wei | undefined;
	/** Returns the newest block's base fee; on Solana the fee per signature. */
	baseFee: (chainId: number) => bigint;
	/** Returns the block time of the last blocks, at least one second except on Solana. */
	blockSeconds: (chainId: number) => number;
};

export function createPriceCache({
	chains,
	solana,
	feedMarginBps,
	feedDeviationBps,
	quoterLadders,
	...references
}: {
	chains: readonly ChainDeployment[];
	/** Absent if Solana is not offered. */
	solana?: { deployment: SolanaDeployment; spreadBps: SpreadBps } | undefined;
	/** The margin by which a price may exceed the feeds. */
	feedMarginBps: number;
	/** The deviation of a pool from the feeds at which its asset is stopped. */
	feedDeviationBps: number;
	/** Prices of a quoter for Solana's assets. Absent if there is none. */
	quoterLadders?: QuoterLadders | undefined;
} & ReferenceTerms): PriceCache {
	const byLadders = new Map(
		chains.map((deployment) => [
			deployment.chainId,
			createLadderPricing({ deployment, feedMarginBps, feedDeviationBps, references }),
		]),
	);
	const pricings = new Map<number, Pricing>(byLadders);
	if (solana) {
		pricings.set(
			solana.deployment.chainId,
			createFeedPricing({
				deployment: solana.deployment,
				spreadBps: solana.spreadBps,
				feedChains: byLadders,
				references,
				quoter: quoterLadders,
				feedMarginBps,
			}),
		);
	}

	return {
		update: (prices, options) => {
			laddersOf(prices.chainId).update(prices, options);
		},
		isReady: (chainId, options) => pricings.get(chainId)?.isReady(options) ?? false,
		ageMs: (chainId, options) => pricings.get(chainId)?.ageMs(options),
		isLive: (id, options) => stopOf(id, options) === undefined,
		stopOf,
		isReferenceLive: (id, options) => referenceStopOf(id, options) === undefined,
		referenceStopOf,
		referencesApartBps: ({ chainId, asset }, options) =>
			pricings.get(chainId)?.referencesApartBps(asset, options),
		sell: ({ chainId, inFlight = 0n, ...sale }) => pricingOf(chainId).sell({ ...sale, inFlight }),
		buy: ({ chainId, inFlight = 0n, ...purchase }) => pricingOf(chainId).buy({ ...purchase, inFlight }),
		ladders: ({ chainId, asset }) => byLadders.get(chainId)?.newest()?.assets.get(asset),
		reference: ({ chainId, asset }) => pricingOf(chainId).reference(asset),
		feedUpdatedAtUnixSeconds: ({ chainId, asset }) => pricings.get(chainId)?.feedUpdatedAtUnixSeconds(asset),
		transactionCost: (chainId, transaction) => laddersOf(chainId).transactionCost(transaction),
		tip: (chainId) => byLadders.get(chainId)?.newest()?.fees.tip,
		baseFee: (chainId) => pricingOf(chainId).baseFee(),
		blockSeconds: (chainId) => pricingOf(chainId).blockSeconds(),
	};

	function laddersOf(chainId: number): LadderPricing {
		const ladders = byLadders.get(chainId);
		if (!ladders) throw new RangeError(`the price cache has no EVM chain ${chainId}`);
		return ladders;
	}

	function stopOf({ chainId, asset }: AssetId, options: { nowMs: Milliseconds }): PriceStop | undefined {
		const pricing = pricings.get(chainId);
		return pricing ? pricing.stopOf(asset, options) : { reason: "prices-old", symbol: asset };
	}

	function referenceStopOf(
		{ chainId, asset }: AssetId,
		options: { nowMs: Milliseconds },
	): PriceStop | undefined {
		const pricing = pricings.get(chainId);
		return pricing ? pricing.referenceStopOf(asset, options) : { reason: "prices-old", symbol: asset };
	}

	function pricingOf(chainId: number): Pricing {
		const pricing = pricings.get(chainId);
		if (!pricing) throw new RangeError(`the price cache has no chain ${chainId}`);
		return pricing;
	}
}
