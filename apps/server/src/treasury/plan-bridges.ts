import { type Amount, greater, rescaleDown, type UsdE18 } from "@geoswap/protocol";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";
import { formatUsd } from "../desk/sealed-quote.ts";
import type { MoveKey } from "./move-id.ts";
import {
	type ChainDraft,
	earningsE18,
	isWorth,
	maxMoveE18,
	type PlanDraft,
	settlementE18,
	shortOf,
	smallest,
} from "./plan-draft.ts";
import { describeAmount, type PlannedMove } from "./planned-move.ts";
import type { RouteSpeed, RouteState } from "./treasury-state.ts";

const secondsPerYear = 31_557_600n;

type Candidate = {
	move: Omit<PlannedMove, "moveId" | "nth" | "reason">;
	from: ChainDraft;
	to: ChainDraft;
	/** What arrives, in the other chain's units. */
	received: Amount;
	benefitE18: UsdE18;
};

/** Plans moves between chains, each time the one that gains most, until none is worth its cost. */
export function planBridges(draft: PlanDraft): void {
	const { policy, state, list } = draft;
	let transitLeftE18 = (draft.inventoryE18 * BigInt(policy.maxTransitPercent)) / 100n - state.inTransitE18;
	for (let i = 0; i < policy.maxBridges; i++) {
		const best = candidates(draft, transitLeftE18).reduce<Candidate | undefined>(
			(chosen, one) => (chosen && gainE18(chosen) >= gainE18(one) ? chosen : one),
			undefined,
		);
		if (!best) break;
		const { move, from, to } = best;
		list.add({ ...move, reason: reasonOf(best) });
		from.free -= move.amount;
		to.arriving += best.received;
		transitLeftE18 -= settlementE18(move.amount, from.chain);
	}
	for (const one of draft.chains) {
		const short = shortOf(one);
		if (short === 0n || one.chain.status !== "open") continue;
		const { name, settlement } = one.chain;
		draft.reasons.push(
			`${name} stays short of ${describeAmount(short, settlement)}: ${whyNot(draft, { to: one, transitLeftE18 })}.`,
		);
	}
}

function gainE18({ benefitE18, move }: Candidate): UsdE18 {
	return benefitE18 - move.costE18;
}

function candidates(draft: PlanDraft, transitLeftE18: UsdE18): Candidate[] {
	return draft.state.routes.flatMap((route) => {
		const from = draft.chains.find(({ chain }) => chain.chainId === route.chainId);
		const to = draft.chains.find(({ chain }) => chain.chainId === route.toChainId);
		if (!from || !to || shortOf(to) === 0n || from.free <= from.need.amount) return [];
		if (!isUsable(draft, { route, from, to })) return [];
		const { decimals } = from.chain.settlement;
		const amount = smallest(
			rescaleDown(shortOf(to), to.chain.settlement.decimals, decimals),
			from.free - from.need.amount,
			route.capLeft,
			rescaleDown(maxMoveE18(draft), 18, decimals),
			rescaleDown(greater(0n, transitLeftE18), 18, decimals),
		);
		if (amount === 0n) return [];
		const isFast = isFastWorth(draft, { route, from, to, amount });
		const wanted = [...(isFast ? [true] : []), false].map((fast) =>
			candidate(draft, { route, from, to, amount, isFast: fast }),
		);
		return wanted.find(({ benefitE18, move }) => isWorth(benefitE18, move.costE18, draft.policy)) ?? [];
	});
}

function isUsable(
	{ list }: PlanDraft,
	{ route, from, to }: { route: RouteState; from: ChainDraft; to: ChainDraft },
): boolean {
	const isOpen = [from.chain, to.chain, route].every(({ status }) => status === "open");
	return isOpen && !list.isOpen(keyOf(route, { from, to }));
}

function keyOf(route: RouteState, { from, to }: { from: ChainDraft; to: ChainDraft }): MoveKey {
	return {
		kind: route.kind,
		chainId: route.chainId,
		token: from.chain.settlement.token,
		toChainId: route.toChainId,
		address: to.chain.vault,
	};
}

/** Returns whether the swaps that the chain would refuse until a slow move arrives earn more than speed costs. */
function isFastWorth(
	{ policy }: PlanDraft,
	{ route, from, to, amount }: { route: RouteState; from: ChainDraft; to: ChainDraft; amount: Amount },
): boolean {
	if (!route.fast) return false;
	const { outflowPerHour, deviationPerHour } = to.need;
	const hours = route.standard.seconds / 3_600;
	const millionths = BigInt(Math.ceil(1e6 * policy.deviations * Math.sqrt(hours)));
	const mean = (outflowPerHour * BigInt(route.standard.seconds)) / 3_600n;
	const meanwhile = mean + (deviationPerHour * millionths) / 1_000_000n;
	const refusedE18 = settlementE18(greater(0n, meanwhile - to.free), to.chain);
	const addedFee = feeOf(amount, route.fast) - feeOf(amount, route.standard);
	return earningsE18(refusedE18, policy) > settlementE18(greater(0n, addedFee), from.chain);
}

function candidate(
	{ policy }: PlanDraft,
	{
		route,
		from,
		to,
		amount,
		isFast,
	}: { route: RouteState; from: ChainDraft; to: ChainDraft; amount: Amount; isFast: boolean },
): Candidate {
	const { standard, fast = standard, name } = route;
	const speed = isFast ? fast : standard;
	const fee = feeOf(amount, speed);
	const amountE18 = settlementE18(amount, from.chain);
	return {
		from,
		to,
		received: rescaleDown(amount - fee, from.chain.settlement.decimals, to.chain.settlement.decimals),
		// The amount is never more than what the other chain lacks, so all of it serves swaps.
		benefitE18: earningsE18(amountE18, policy),
		move: {
			...keyOf(route, { from, to }),
			amount,
			toToken: to.chain.settlement.token,
			costE18: routeCostE18(route, {
				speed,
				valueE18: amountE18,
				feeE18: settlementE18(fee, from.chain),
				policy,
			}),
			route: { name, isFast, seconds: speed.seconds, fee },
		},
	};
}

/** Returns what a move costs by a route: gas, its fee, and what the capital would earn while it is on its way. */
export function routeCostE18(
	{ gasE18 }: Pick<RouteState, "gasE18">,
	{
		speed,
		valueE18,
		feeE18 = feeOf(valueE18, speed),
		policy,
	}: { speed: RouteSpeed; valueE18: UsdE18; feeE18?: UsdE18; policy: TreasuryPolicy },
): UsdE18 {
	const yearly = valueE18 * BigInt(policy.capitalPercentPerYear);
	return gasE18 + feeE18 + (yearly * BigInt(speed.seconds)) / (100n * secondsPerYear);
}

function feeOf(amount: bigint, { feeCentibps }: RouteSpeed): bigint {
	return (amount * BigInt(feeCentibps) + 999_999n) / 1_000_000n;
}

function reasonOf({ move, from, to, benefitE18 }: Candidate): string {
	const { settlement: here, name: origin } = from.chain;
	const { settlement: there, name: destination } = to.chain;
	return (
		`${destination} needs ${describeAmount(to.need.amount, there)} and has ${describeAmount(to.free + to.arriving, there)}, ` +
		`while ${origin} can spare ${describeAmount(from.free - from.need.amount, here)}: ` +
		`${describeAmount(move.amount, here)} by ${move.route?.name}${move.route?.isFast ? ", fast," : ""} ` +
		`earns about ${formatUsd(benefitE18)} USD and costs ${formatUsd(move.costE18)} USD.`
	);
}

/** Returns the end of a sentence on why nothing more is moved to a chain. */
function whyNot(
	draft: PlanDraft,
	{ to, transitLeftE18 }: { to: ChainDraft; transitLeftE18: UsdE18 },
): string {
	const routes = draft.state.routes.filter(({ toChainId }) => toChainId === to.chain.chainId);
	if (routes.length === 0) return "no route leads to it";
	const closed = routes.find(({ status }) => status !== "open");
	if (transitLeftE18 <= 0n) return "as much as allowed is between chains";
	if (draft.list.moves.filter(({ route }) => route).length >= draft.policy.maxBridges) {
		return `a plan has at most ${draft.policy.maxBridges} such moves`;
	}
	if (closed) return `the route ${closed.name} from chain ${closed.chainId} is ${closed.status}`;
	const usable = draft.chains.filter((from) =>
		routes.some((route) => route.chainId === from.chain.chainId && isUsable(draft, { route, from, to })),
	);
	if (usable.length === 0) return "every route to it has an open move";
	const hasSpare = usable.some(({ free, need }) => free > need.amount);
	return hasSpare
		? "no move to it earns enough for its cost"
		: "no chain with a free route to it has any to spare";
}
