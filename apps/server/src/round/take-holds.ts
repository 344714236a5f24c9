import { type FailureCode, type SwapUuid, toChainId } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import type { Desk } from "../desk/desk.ts";
import { dropEnded, lockJobsAndWaits, withdrawJobs } from "../job/queue-jobs.ts";
import {
	dropExposures,
	insertExposures,
	lockExposures,
	markExposuresFinal,
	putAtRisk,
} from "../money/exposure.ts";
import { reserveAgain, unreserveAll } from "../money/inventory/reservations.ts";
import { bookLoss } from "../money/ledger/book-loss.ts";
import type { Action } from "../swap/decide/decision.ts";
import { type Decided, holdBack, type Permitted, permitAll } from "./decide-swap.ts";

/** The part of the desk that prices an order again if it was opened late. */
export type DecisionDesk = Pick<Desk, "reprice" | "volumes" | "isPriceable">;

/**
 * Takes back the jobs, the inventory and the room below the caps that these decisions give up, takes what they need,
 * and returns the part of each that may be carried out. The swaps must be locked.
 *
 * Locks are taken in one order everywhere: swaps, jobs, books, waits, ladders, inventory, exposure; of each table in
 * the order of its key. All swaps to a token lock its inventory, and all blocks of a chain lock the jobs and waits of
 * its swaps, so no process may hold the one and wait for the other. A follower takes jobs, books, then waits, then
 * inventory. Only `submitSwap` takes the swap after the inventory, because it inserts a new row, which no other process
 * can hold.
 */
export async function takeHolds(
	db: Database,
	swaps: readonly Decided[],
	desk: DecisionDesk,
): Promise<Permitted[]> {
	await lockToBooks(db, swaps);
	await withdrawJobs(db, swaps.flatMap(withdrawals));
	await unreserveAll(db, idsOf(swaps, unreserves));
	const reserved: Permitted[] = [];
	for (const swap of swaps) reserved.push(await reserve(db, swap, desk));
	await dropEnded(db, idsOf(swaps, isEnding));
	await dropExposures(db, idsOf(swaps, dropsExposure));
	await markExposuresFinal(db, idsOf(swaps, isNowFinal));
	return keepCaps(db, reserved);
}

/** Locks jobs, writes losses to the books, and locks waits if locks that come later are needed. */
async function lockToBooks(db: Database, swaps: readonly Decided[]): Promise<void> {
	const jobsOf = idsOf(swaps, changesJobs);
	const lost = swaps.filter(({ decision }) => decision.isEnd && decision.fact === "delivered-unopened");
	if (lost.length > 0) {
		await lockJobsAndWaits(db, { jobsOf, waitsOf: [] });
		for (const { swap } of lost) await bookLoss(db, swap.order);
	}
	const waitsOf = swaps.some(isBeyondWaits) ? idsOf(swaps, () => true) : [];
	await lockJobsAndWaits(db, { jobsOf, waitsOf });
}

/**
 * Reserves again for a swap whose reservation has lapsed, since the price that it was made at may be gone. Such a swap
 * is a separate batch, since the ladders that it locks are known only one swap at a time.
 */
async function reserve(db: Database, decided: Decided, desk: DecisionDesk): Promise<Permitted> {
	const { swap, decision } = decided;
	if (!needsReservation(decided)) return permitAll(decided);
	if (!desk.isPriceable(swap.order)) return holdBack(decided, "price-unknown");
	const reserved = await reserveAgain(db, {
		swap,
		pairs: desk.volumes(swap),
		// The transactions are charged for at current fees.
		reserve: (inFlight) => desk.reprice({ ...swap, networkCost: undefined }, inFlight),
	});
	if (reserved === "reserved") return permitAll(decided);
	const code: FailureCode = reserved === "price" ? "PRICE_MOVED" : "NO_LIQUIDITY";
	const actions: Action[] = [...decision.actions, { do: "give-up", code }];
	return permitAll({ ...decided, decision: { ...decision, actions } });
}

/**
 * Counts what fills put at risk, each with those before it. Holds back fills that would exceed the caps, and those from
 * or to a chain that dropped final blocks, because what is known of a deposit or a delivery there may no longer be
 * true.
 */
async function keepCaps(db: Database, swaps: readonly Permitted[]): Promise<Permitted[]> {
	const fills = swaps.filter(fillOf);
	if (fills.length === 0 && !swaps.some(isExposing)) return [...swaps];
	const capped = fills.filter(capsOf);
	const { atRisk, broken } = await lockExposures(db, {
		originIds: [...new Set(capped.map(originOf))],
		accountIds: [...new Set(capped.flatMap(({ swap }) => swap.accountId ?? []))],
		chainIds: [...new Set(fills.flatMap(chainsOf))],
	});
	const exposed: Permitted[] = [];
	const results = swaps.map((one) => {
		if (fillOf(one) && chainsOf(one).some((id) => broken.has(id))) return holdBack(one, "finality-broken");
		const caps = capsOf(one);
		if (!caps && !isExposing(one)) return one;
		const { swap, isExposed } = one;
		const value = {
			accountId: swap.accountId,
			attesterSet: swap.order.attesterSet,
			usdCents: isExposed ? 0n : swap.valueUsdCents,
			isFinal: isDepositFinal(one),
		};
		const sum = atRisk.get(originOf(one));
		if (sum && !putAtRisk(sum, value, caps)) return holdBack(one, "exposure-cap");
		if (!isExposed) exposed.push(one);
		return one;
	});
	await insertExposures(
		db,
		exposed.map((one) => ({ swap: one.swap, isFinal: isDepositFinal(one) })),
	);
	return results;
}

function idsOf(swaps: readonly Decided[], which: (swap: Decided) => boolean): SwapUuid[] {
	return swaps.filter(which).map(({ swap }) => swap.id);
}

function isEnding({ decision }: Decided): boolean {
	return decision.isEnd;
}

function has({ decision }: Decided, what: Action["do"]): boolean {
	return decision.actions.some((action) => action.do === what);
}

function withdrawals({ swap, decision }: Decided) {
	return decision.actions.flatMap((action) =>
		action.do === "withdraw" ? [{ swapId: swap.id, kind: action.kind }] : [],
	);
}

/** Returns whether the decision deletes jobs or queues them again. */
function changesJobs(one: Decided): boolean {
	const { decision } = one;
	const isAgain = decision.actions.some((action) => action.do === "queue" && action.again);
	return isEnding(one) || has(one, "withdraw") || isAgain;
}

export function needsReservation(one: Decided): boolean {
	return has(one, "reserve");
}

function unreserves(one: Decided): boolean {
	return (isEnding(one) || has(one, "unreserve")) && one.facts?.isReserved !== false;
}

/** Returns the fill that is queued for a swap that is not settled. Only the output of a settled swap is owed in any case. */
export function fillOf({ swap, decision }: Decided) {
	if (swap.status !== "pending") return undefined;
	return decision.actions.find((action) => action.do === "queue" && action.kind === "fill");
}

/** Returns the maximum that the queued fill may put at risk. */
export function capsOf(one: Decided) {
	const fill = fillOf(one);
	return fill && "caps" in fill ? fill.caps : undefined;
}

/** Returns whether the swap's value is at risk and does not count yet. */
function isExposing({ decision, isExposed }: Decided): boolean {
	return decision.isAtRisk === true && !decision.isEnd && !isExposed;
}

/** Returns whether nothing of a swap that goes on is at risk any more, unless a fill may still land. */
function dropsExposure(one: Decided): boolean {
	const { decision } = one;
	return !decision.isEnd && !decision.isAtRisk && (has(one, "withdraw") || has(one, "unreserve"));
}

/** Returns whether the deposit of a swap that goes on still counts as one that the chain can drop, although it is final. */
function isNowFinal(one: Decided): boolean {
	return !isEnding(one) && one.isUnfinalExposed && isDepositFinal(one);
}

/** Returns whether the decision takes locks that come after those of waits. */
function isBeyondWaits(one: Decided): boolean {
	const isCounted = dropsExposure(one) || isExposing(one) || isNowFinal(one) || capsOf(one) !== undefined;
	return isEnding(one) || unreserves(one) || needsReservation(one) || isCounted;
}

function isDepositFinal({ facts }: Decided): boolean {
	const { Opened } = facts?.events ?? {};
	return facts !== undefined && Opened !== undefined && Opened.blockNumber <= facts.origin.finalizedNumber;
}

function chainsOf({ swap: { order } }: Decided): number[] {
	return [order.originChainId, order.destinationChainId].map(toChainId);
}

function originOf({ swap: { order } }: Decided): number {
	return toChainId(order.originChainId);
}
