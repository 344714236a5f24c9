import type { Amount, Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { PriceStop } from "./price-stop.ts";
import type { PricedToken } from "./usd-value.ts";

/**
 * The pricing of one chain's assets, by the ladders of its pools or by feeds, with the last answers of a quoter if
 * there is one. Assets are named by address.
 */
export type Pricing = {
	/** True if there are fresh prices. */
	isReady: (options: { nowMs: Milliseconds }) => boolean;
	/** Returns the age of the newest prices; undefined before the first. */
	ageMs: (options: { nowMs: Milliseconds }) => number | undefined;
	/** Returns why the asset may not be priced; undefined if it may. */
	stopOf: (asset: Address, options: { nowMs: Milliseconds }) => PriceStop | undefined;
	/** Returns why the asset's reference price may not be used, or undefined if it may, regardless of the pools. */
	referenceStopOf: (asset: Address, options: { nowMs: Milliseconds }) => PriceStop | undefined;
	/** Returns the difference between the asset's two references; undefined if there are no two. */
	referencesApartBps: (asset: Address, options: { nowMs: Milliseconds }) => number | undefined;
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
