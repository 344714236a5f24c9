import { type Amount, greater, lesser, rescaleUp, type UsdE18 } from "@geoswap/protocol";
import type { Ladder } from "../chain/evm/read/read-block-prices.ts";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";
import type { Need } from "./need.ts";
import type { MoveList } from "./planned-move.ts";
import type { AssetState, ChainState, TreasuryState } from "./treasury-state.ts";

/** A plan while it is made. Each step takes its moves off what is free for the next. */
export type PlanDraft = {
	state: TreasuryState;
	policy: TreasuryPolicy;
	/** The targets of all chains. What is in escrow belongs to the inventory, so caps do not shrink while it is there. */
	inventoryE18: UsdE18;
	chains: ChainDraft[];
	list: MoveList;
	reasons: string[];
};

export type ChainDraft = {
	chain: ChainState;
	need: Need;
	/** Of the settlement token: what is left to move, and what is on its way, moves of this plan included. */
	free: Amount;
	arriving: Amount;
	tradeCapLeft: Amount;
	assets: AssetDraft[];
};

export type AssetDraft = {
	asset: AssetState;
	free: Amount;
	/** A relayer waits for it, so it is not sold. */
	isWanted: boolean;
};

/** Returns the settlement tokens that a chain lacks, what is arriving included. */
export function shortOf({ need, free, arriving }: ChainDraft): Amount {
	return greater(0n, need.amount - free - arriving);
}

/** Returns the maximum value of one move. */
export function maxMoveE18({ inventoryE18, policy }: PlanDraft): UsdE18 {
	return (inventoryE18 * BigInt(policy.maxMovePercent)) / 100n;
}

/** Returns what a value earns in one swap. */
export function earningsE18(valueE18: UsdE18, { netFeeCentibps }: TreasuryPolicy): UsdE18 {
	return (valueE18 * BigInt(netFeeCentibps)) / 1_000_000n;
}

/** Returns the value of settlement tokens, which count at par. */
export function settlementE18(amount: Amount, { settlement }: ChainState): UsdE18 {
	return rescaleUp(amount, settlement.decimals, 18);
}

/** Returns the largest rung of all ladders whose price is within the maximum impact of its ladder's first rung. */
export function largestPiece(ladders: readonly Ladder[], { maxImpactBps }: TreasuryPolicy): Amount {
	let largest = 0n;
	for (const { rungs } of ladders) {
		const [first] = rungs;
		if (!first) continue;
		for (const { input, output } of rungs) {
			const isWithin = output * first.input * 10_000n >= first.output * input * BigInt(10_000 - maxImpactBps);
			if (isWithin) largest = greater(largest, input);
		}
	}
	return largest;
}

/** Returns the smallest of some amounts, and 0 if one is below. */
export function smallest(...amounts: Amount[]): Amount {
	return greater(0n, amounts.reduce(lesser));
}

/** Returns the least that a trade may pay: the ladder's price without the slippage. */
export function minOutOf(output: Amount, { maxSlippageBps }: TreasuryPolicy): Amount {
	return (output * BigInt(10_000 - maxSlippageBps)) / 10_000n;
}

/** Returns whether a benefit is large enough a share of a cost. */
export function isWorth(benefitE18: UsdE18, costE18: UsdE18, { minBenefitPercent }: TreasuryPolicy): boolean {
	return benefitE18 * 100n >= costE18 * BigInt(minBenefitPercent);
}
