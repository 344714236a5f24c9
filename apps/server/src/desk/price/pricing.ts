import type { Amount, Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { PricedToken } from "./usd-value.ts";

/**
 * The pricing of one chain's assets: by the ladders of its pools, or by feeds alone. A quoter behind HTTP would be a
 * third way; it would keep its last answers in memory, since a quote never waits. Assets are named by address.
 */
export type Pricing = {
	/** True if there are fresh prices. */
	isReady: (options: { nowMs: Milliseconds }) => boolean;
	/** Returns the age of the newest prices; undefined before the first. */
	ageMs: (options: { nowMs: Milliseconds }) => number | undefined;
	/** True if the asset may be priced. */
	isLive: (asset: Address, options: { nowMs: Milliseconds }) => boolean;
	/** True if the asset's reference price is fresh. */
	isReferenceLive: (asset: Address, options: { nowMs: Milliseconds }) => boolean;
	/** Returns the proceeds in the chain's settlement token. Undefined if an amount this large cannot be priced. */
	sell: (sale: { asset: Address; amount: Amount; inFlight: Amount }) => bigint | undefined;
	/** Returns what the budget, in the settlement token, buys, with the pools' fee tiers if it uses pools. */
	buy: (purchase: {
		asset: Address;
		budget: Amount;
		inFlight: Amount;
	}) => { output: Amount; fees: number[] } | undefined;
	reference: (asset: Address) => PricedToken;
	/** Returns when the asset's feed was last updated; undefined before the first price. */
	feedUpdatedAtUnixSeconds: (asset: Address) => number | undefined;
	/** Returns the minimum fee of the chain itself: per unit of gas, on Solana per signature. */
	baseFee: () => bigint;
	blockSeconds: () => number;
};
