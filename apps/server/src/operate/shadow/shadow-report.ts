import type { Amount, Milliseconds, UsdE18, Wei } from "@geoswap/protocol";
import type { Hex } from "viem";

export type PairReport = {
	pair: string;
	quoted: number;
	filled: number;
	refunded: number;
	/** Value of the inputs at the fill. */
	volumeE18: UsdE18;
	/** Earned at the prices of each fill, after the chains' fees. */
	earnedE18: UsdE18;
};

/** A swap that lost money, or a quote that would have. */
export type Loss = { swap: number; pair: string; gainE18: UsdE18 };

export type Losses = { count: number; sumE18: UsdE18; worst: Loss[] };

export type InventoryReport = {
	chainId: number;
	chain: string;
	token: Hex;
	symbol: string;
	decimals: number;
	start: Amount;
	/** The lowest amount that was free for another swap, and the highest amount held. */
	minFree: Amount;
	most: Amount;
	/** The service's inputs that are not released yet. */
	inEscrow: Amount;
	end: Amount;
	/** Inventory that would have sufficed, and its value at the end. */
	needed: Amount;
	neededE18: UsdE18;
};

export type FeeReport = {
	chainId: number;
	chain: string;
	transactions: number;
	fees: Wei;
	/** Each fee at the price when it was paid. */
	valueE18: UsdE18;
};

/** The result of a day. Amounts of USD have 18 decimals. */
export type ShadowReport = {
	fromMs: Milliseconds;
	toMs: Milliseconds;
	source: string;
	requests: number;
	quoted: number;
	filled: number;
	refunded: number;
	/** Swaps in progress at the end. They count with the fees that they have cost. */
	unfinished: number;
	/** Requests that became no swap, by reason. */
	refusals: Record<string, number>;
	/** Fills that would have succeeded on their chain, that would have failed, and that were not simulated. */
	simulations: { succeeded: number; failed: number; notSimulated: number };
	volumeE18: UsdE18;
	/** The sum of all pairs, with each swap at the prices of its fill. */
	earnedE18: UsdE18;
	/** The remainder: changes of the inputs' prices until they were sold, and the cost of replenishing. */
	heldAndReplenishedE18: UsdE18;
	/** All holdings at the end less those at the start, at the end's prices, less all fees. */
	netE18: UsdE18;
	feesE18: UsdE18;
	/** Value of the inventory that would have sufficed. */
	neededE18: UsdE18;
	pairs: PairReport[];
	inventory: InventoryReport[];
	fees: FeeReport[];
	losses: {
		/** Swaps that lost at the prices of their own fill, including refunds. */
		atFill: Losses;
		/** Swaps that would have lost if the quoted output had been paid, regardless of price changes in between. */
		ifHonoured: Losses;
		/** Swaps that would have lost if their input had been kept and sold at the end. */
		ifHeld: Losses;
	};
};

const worstListed = 10;

/** Sums up the losses among these gains, and lists the worst. */
export function lossesOf(gains: readonly Loss[]): Losses {
	const lost = gains.filter(({ gainE18 }) => gainE18 < 0n);
	const byGain = lost.toSorted((a, b) =>
		a.gainE18 < b.gainE18 ? -1 : a.gainE18 > b.gainE18 ? 1 : a.swap - b.swap,
	);
	return {
		count: lost.length,
		sumE18: lost.reduce((sum, { gainE18 }) => sum + gainE18, 0n),
		worst: byGain.slice(0, worstListed),
	};
}
