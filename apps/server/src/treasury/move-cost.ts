import { lesser, mulDivUp, rescaleDown, type UsdE18 } from "@geoswap/protocol";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";
import type { Need } from "./need.ts";
import { routeCostE18 } from "./plan-bridges.ts";
import { earningsE18, settlementE18 } from "./plan-draft.ts";
import type { ChainState, RouteState, TreasuryState } from "./treasury-state.ts";

const bps = 10_000n;

/**
 * Returns what it costs to bring a typical piece of settlement tokens to a chain by its cheapest open route, rounded up: as
 * much as the chain needs, within what one move may be. Undefined if no route leads there now, or nothing is needed.
 */
export function moveCostBps(
	chain: ChainState,
	{ need, state, policy }: { need: Need; state: TreasuryState; policy: TreasuryPolicy },
): number | undefined {
	const inventoryE18 = state.chains.reduce(
		(sum, { settlement }) => sum + rescaleDown(settlement.target, settlement.decimals, 18),
		0n,
	);
	const maxE18 = (inventoryE18 * BigInt(policy.maxMovePercent)) / 100n;
	const valueE18 = lesser(settlementE18(need.amount, chain), maxE18);
	if (valueE18 === 0n) return undefined;
	const costs = state.routes
		.filter(({ toChainId, status }) => toChainId === chain.chainId && status === "open")
		.map((route) => routeCostE18(route, { speed: route.standard, valueE18, policy }));
	const [first, ...others] = costs;
	if (first === undefined) return undefined;
	const costE18 = others.reduce(lesser, first);
	return Number(lesser((costE18 * bps + valueE18 - 1n) / valueE18, bps));
}

/**
 * Returns the smallest value whose move by a route is worth its cost, rounded up. Undefined if what grows with the value
 * already costs more than it earns.
 */
export function breakEvenE18(route: RouteState, policy: TreasuryPolicy): UsdE18 | undefined {
	const sampleE18 = 10n ** 30n;
	const variableE18 = routeCostE18({ gasE18: 0n }, { speed: route.standard, valueE18: sampleE18, policy });
	const factor = BigInt(policy.minBenefitPercent);
	const gainE18 = earningsE18(sampleE18, policy) * 100n - variableE18 * factor;
	return gainE18 > 0n ? mulDivUp(route.gasE18 * factor, sampleE18, gainE18) : undefined;
}
