import { type FailureCode, type Milliseconds, toChainId } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import type { Desk } from "../desk/desk.ts";
import { dropEnded, lockJobsAndWaits, queueJobs, withdrawJobs } from "../job/queue-jobs.ts";
import {
	dropExposures,
	insertExposures,
	lockExposures,
	markExposuresFinal,
	putAtRisk,
} from "../money/exposure.ts";
import { markReservationsOpened, reserveAgain, unreserveAll } from "../money/inventory/reservations.ts";
import { bookLoss } from "../money/ledger/book-unattributed.ts";
import { recordUnsettledGas } from "../money/unsettled-gas.ts";
import type { Decision, Hold } from "../swap/decide/decision.ts";
import { writeWaits } from "../swap/due/write-waits.ts";
import type { Move, SwapRecord } from "../swap/facts/swap-record.ts";
import { recordRefusal } from "../swap/record/record-refusal.ts";
import { type Plan, planChanges } from "./plan-changes.ts";
import { recordFacts, writeSwaps } from "./write-swaps.ts";

/** The part of the desk that prices an order again if it was opened late. */
export type DecisionDesk = Pick<Desk, "reprice" | "volumes" | "isPriceable">;

/** A party that has work because of a round: the lanes or the attesters of a chain, or its second provider. */
export type RoundPoke = { who: "lanes" | "attesters" | "second-provider"; chainId: number };

export type Applied = {
	/** The swap as it was before. */
	swap: SwapRecord;
	/** The whole decision. Less was done if `heldBy` is set. */
	decision: Decision;
	heldBy?: Hold;
	/** True if the fact differs from the previous one. */
	isNews: boolean;
	/** The stages, or the status that ends them, that the swap newly reached. */
	moves: readonly Move[];
	/** The jobs that lanes have refused, with their reasons, as in "fill: price". */
	refused: string[];
	pokes: RoundPoke[];
};

/**
 * Writes what was decided about many swaps, all or nothing, a table at a time. The swaps must be held.
 *
 * Locks are taken in one order everywhere: swaps, jobs, books, waits, ladders, inventory, exposure; of each table in
 * the order of its key. All swaps to a token lock its inventory, and all blocks of a chain lock the jobs and waits of
 * its swaps, so no process may hold the one and wait for the other. A follower takes jobs, books, then waits, then
 * inventory. Only `submitSwap` takes the swap after the inventory, because it inserts a new row, which no other process
 * can hold.
 */
export async function applyPlans(
	db: Database,
	plans: readonly Plan[],
	{ desk, nowMs }: { desk: DecisionDesk; nowMs: Milliseconds },
): Promise<Applied[]> {
	const idsOf = (which: (plan: Plan) => boolean) =>
		plans.filter(which).map(({ decided: { swap } }) => swap.id);
	const jobsOf = idsOf(
		(plan) => isEnding(plan) || plan.withdraw.length > 0 || plan.queue.some(({ job }) => job.again),
	);
	const waitsOf = plans.some(isBeyondWaits) ? idsOf(() => true) : [];
	const lost = plans.filter((plan) => isEnding(plan) && plan.decision.fact === "delivered-unopened");
	if (lost.length > 0) {
		await lockJobsAndWaits(db, { jobsOf, waitsOf: [] });
		for (const { decided } of lost) await bookLoss(db, decided.swap.order);
	}
	await lockJobsAndWaits(db, { jobsOf, waitsOf });
	await withdrawJobs(
		db,
		plans.flatMap((plan) => plan.withdraw),
	);
	await unreserveAll(
		db,
		idsOf((plan) => plan.unreserves && plan.decided.facts?.isReserved !== false),
	);
	const reserved = await reserve(db, plans, desk);
	await dropEnded(db, idsOf(isEnding));
	await dropExposures(
		db,
		idsOf((plan) => plan.dropsExposure && !isEnding(plan)),
	);
	const final = await hold(db, reserved);

	await queueJobs(
		db,
		final.flatMap((plan) => plan.queue),
	);
	await markReservationsOpened(
		db,
		idsOf((plan) => plan.isOpened),
	);
	await writeSwaps(
		db,
		final.flatMap((plan) => plan.change ?? []),
		{ nowMs },
	);
	await recordFacts(
		db,
		final.filter(isNews).map(({ decided: { swap }, decision }) => ({
			swapId: swap.id,
			fact: decision.fact,
			data: factData(decision),
		})),
	);
	await writeWaits(
		db,
		final.flatMap(({ next }) => next ?? []),
	);
	await applySeldom(db, final, { nowMs });
	return final.map(appliedOf);
}

function isEnding({ decision }: Plan): boolean {
	return decision.isEnd;
}

function isNews({ decided: { wait }, decision }: Plan): boolean {
	return decision.fact !== wait.fact;
}

/** Returns whether the plan takes locks that come after those of waits. */
function isBeyondWaits(plan: Plan): boolean {
	const { unreserves, reserves, dropsExposure, isExposing, caps } = plan;
	const isCounted = dropsExposure || isExposing || caps !== undefined || isNowFinal(plan);
	return unreserves || reserves || isCounted || isEnding(plan);
}

/**
 * Reserves again for swaps whose reservation has lapsed, since the price that it was made at may be gone. Such a swap
 * is a separate batch, since the ladders that it locks are known only one swap at a time.
 */
async function reserve(db: Database, plans: readonly Plan[], desk: DecisionDesk): Promise<Plan[]> {
	const results: Plan[] = [];
	for (const plan of plans) results.push(plan.reserves ? await reserveOne(db, plan, desk) : plan);
	return results;
}

async function reserveOne(db: Database, plan: Plan, desk: DecisionDesk): Promise<Plan> {
	const { swap } = plan.decided;
	if (!desk.isPriceable(swap.order)) return planChanges(plan.decided, "price-unknown");
	const reserved = await reserveAgain(db, {
		swap,
		pairs: desk.volumes(swap),
		// The transactions are charged for at current fees.
		reserve: (inFlight) => desk.reprice({ ...swap, networkCost: undefined }, inFlight),
	});
	if (reserved === "reserved") return plan;
	const code: FailureCode = reserved === "price" ? "PRICE_MOVED" : "NO_LIQUIDITY";
	const { decision } = plan.decided;
	const actions = [...decision.actions, { do: "give-up", code } as const];
	return planChanges({ ...plan.decided, decision: { ...decision, actions } });
}

/**
 * Counts what fills put at risk, each with those before it. Holds back fills that would exceed the caps, and those from
 * or to a chain that dropped final blocks, because what is known of a deposit or a delivery there may no longer be
 * true.
 */
async function hold(db: Database, plans: readonly Plan[]): Promise<Plan[]> {
	const nowFinal = plans.filter((plan) => isNowFinal(plan) && !isEnding(plan));
	await markExposuresFinal(
		db,
		nowFinal.map(({ decided: { swap } }) => swap.id),
	);
	const fills = plans.filter(({ isFilling }) => isFilling);
	const chainsOf = ({ decided: { swap } }: Plan) =>
		[swap.order.originChainId, swap.order.destinationChainId].map(toChainId);
	const originOf = ({ decided: { swap } }: Plan) => toChainId(swap.order.originChainId);
	if (fills.length === 0 && !plans.some(({ isExposing }) => isExposing)) return [...plans];
	const capped = fills.filter(({ caps }) => caps !== undefined);
	const { atRisk, broken } = await lockExposures(db, {
		originIds: [...new Set(capped.map(originOf))],
		accountIds: [...new Set(capped.flatMap(({ decided: { swap } }) => swap.accountId ?? []))],
		chainIds: [...new Set(fills.flatMap(chainsOf))],
	});
	const exposed: Plan[] = [];
	const results = plans.map((plan) => {
		const { swap, isExposed } = plan.decided;
		if (plan.isFilling && chainsOf(plan).some((id) => broken.has(id))) {
			return planChanges(plan.decided, "finality-broken");
		}
		if (!plan.caps && !plan.isExposing) return plan;
		const value = {
			accountId: swap.accountId,
			attesterSet: swap.order.attesterSet,
			usdCents: isExposed ? 0n : swap.valueUsdCents,
			isFinal: isDepositFinal(plan),
		};
		const sum = atRisk.get(originOf(plan));
		if (sum && !putAtRisk(sum, value, plan.caps)) return planChanges(plan.decided, "exposure-cap");
		if (!isExposed) exposed.push(plan);
		return plan;
	});
	await insertExposures(
		db,
		exposed.map((plan) => ({ swap: plan.decided.swap, isFinal: isDepositFinal(plan) })),
	);
	return results;
}

function isDepositFinal({ decided: { facts } }: Plan): boolean {
	const { Opened } = facts?.events ?? {};
	return facts !== undefined && Opened !== undefined && Opened.blockNumber <= facts.origin.finalizedNumber;
}

/** Returns whether the deposit still counts as one that the chain can drop, although it is final. */
function isNowFinal(plan: Plan): boolean {
	return plan.decided.isUnfinalExposed && isDepositFinal(plan);
}

/** Writes refusals, one swap at a time since they are rare, and the gas of swaps that ended unsettled. */
async function applySeldom(
	db: Database,
	plans: readonly Plan[],
	{ nowMs }: { nowMs: Milliseconds },
): Promise<void> {
	for (const plan of plans) {
		const { swap } = plan.decided;
		if (plan.refusal) await recordRefusal(db, { swapId: swap.id, reason: plan.refusal, nowMs });
	}
	const unsettled = plans.filter((plan) => isEnding(plan) && plan.change?.status !== "settled");
	await recordUnsettledGas(db, { swapIds: unsettled.map(({ decided: { swap } }) => swap.id), nowMs });
}

function appliedOf(plan: Plan): Applied {
	const {
		decided: { swap, facts, decision },
		change,
		heldBy,
		queue,
		next,
	} = plan;
	return {
		swap,
		decision,
		...(heldBy && { heldBy }),
		isNews: isNews(plan),
		moves: change?.steps ?? [],
		refused: Object.entries(facts?.jobs ?? {}).flatMap(([kind, job]) =>
			job?.state === "refused" ? `${kind}: ${job.reason ?? "reverted"}` : [],
		),
		pokes: [
			...queue.map(({ job }): RoundPoke => {
				return { who: job.state === "unattested" ? "attesters" : "lanes", chainId: job.chainId };
			}),
			...(next?.ask ? [{ who: "second-provider", chainId: next.ask.chainId } as const] : []),
		],
	};
}

/** Returns the parts of a decision that a reader of the history needs. */
function factData({ actions }: Decision): Record<string, unknown> {
	const data: Record<string, unknown> = {};
	for (const action of actions) {
		if (action.do === "give-up") data.givingUp = action.code;
		if (action.do === "queue" && "agreeAboveUsd" in action) data.agreeAboveUsd = action.agreeAboveUsd;
		if (action.do === "queue" && "deposit" in action) data.deposit = action.deposit;
		if (action.do === "note") {
			for (const [field, value] of Object.entries(action.notes)) data[field] = value && String(value);
		}
	}
	return data;
}
