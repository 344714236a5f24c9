import type { Address } from "viem";
import type { PricedToken } from "./usd-value.ts";

/**
 * How one chain's assets are priced: by the ladders of its pools, or by feeds alone. A quoter behind HTTP would be a
 * third way, with its last answers in memory, since a quote waits for nothing. An asset is named by its address.
 */
export type Pricing = {
	/** Whether there are prices, and new ones. */
	isReady: (options: { nowMs: number }) => boolean;
	/** How old the newest prices are; undefined before the first. */
	ageMs: (options: { nowMs: number }) => number | undefined;
	/** Whether the asset may be priced. */
	isLive: (asset: Address, options: { nowMs: number }) => boolean;
	/** Whether its reference alone is fresh. */
	isReferenceLive: (asset: Address, options: { nowMs: number }) => boolean;
	/** What the asset brings in the chain's settlement token. Undefined where that much cannot be told. */
	sell: (sale: { asset: Address; amount: bigint; inFlight: bigint }) => bigint | undefined;
	/** What the budget, in the settlement token, buys, and on which pools, where it is pools. */
	buy: (purchase: {
		asset: Address;
		budget: bigint;
		inFlight: bigint;
	}) => { output: bigint; fees: number[] } | undefined;
	reference: (asset: Address) => PricedToken;
	/** When its feed was last written; undefined before the first price. */
	feedUpdatedAtUnixSeconds: (asset: Address) => number | undefined;
	/** What the chain itself asks at least: for a unit of gas, on Solana for a signature. */
	baseFee: () => bigint;
	blockSeconds: () => number;
};
