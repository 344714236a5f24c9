import { rescaleDown } from "@geoswap/protocol";
import { defaultTreasuryPolicy, type TreasuryPolicy } from "../config/treasury-policy.ts";
import { type Need, needsOf } from "./need.ts";
import { planBridges } from "./plan-bridges.ts";
import type { ChainDraft, PlanDraft } from "./plan-draft.ts";
import { planRefills } from "./plan-refills.ts";
import { planSales } from "./plan-sales.ts";
import { createMoveList, type PlannedMove } from "./planned-move.ts";
import type { TreasuryState } from "./treasury-state.ts";

export type TreasuryPlan = {
	/** In the order in which they were chosen. */
	moves: PlannedMove[];
	/** Sentences on what was not moved, and why. */
	reasons: string[];
	needs: Map<number, Need>;
};

const problems = {
	paused: "the chain is paused",
	unreadable: "the chain is unreadable",
	unexplained:
		"its vault made a move that no row has: adopt it after a restore, or replace the treasurer's key",
} as const;

/**
 * Returns the moves of inventory that are worth their cost now. Gas for relayers comes first, because without it a chain
 * stands still. Then come sales of what is not kept, and moves between chains last, because they use what is left.
 */
export function plan(state: TreasuryState, policy: TreasuryPolicy = defaultTreasuryPolicy): TreasuryPlan {
	const holdings = state.chains.map(({ settlement }) => settlement);
	const needs = needsOf(holdings, { minute: state.minute, policy });
	const draft: PlanDraft = {
		state,
		policy,
		inventoryE18: holdings.reduce((sum, { target, decimals }) => sum + rescaleDown(target, decimals, 18), 0n),
		chains: state.chains.map((chain) => draftOf(chain, needs.get(chain.chainId))),
		list: createMoveList(state.history),
		reasons: state.chains.flatMap(({ name, status }) =>
			status === "open" ? [] : [`Nothing is moved from or to ${name}, because ${problems[status]}.`],
		),
	};
	planRefills(draft);
	planSales(draft);
	planBridges(draft);
	return { moves: draft.list.moves, reasons: draft.reasons, needs };
}

function draftOf(chain: TreasuryState["chains"][number], need: Need | undefined): ChainDraft {
	if (!need) throw new Error(`no need of chain ${chain.chainId}`);
	const { free, arriving, tradeCapLeft } = chain.settlement;
	return {
		chain,
		need,
		free,
		arriving,
		tradeCapLeft,
		assets: chain.assets.map((asset) => ({ asset, free: asset.free, isWanted: false })),
	};
}
