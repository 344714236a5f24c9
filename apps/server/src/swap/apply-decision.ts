import { toChainId } from "@geoswap/protocol";
import {
	advanceSwap,
	endSwap,
	giveUpSwap,
	lockSwap,
	type Move,
	noteOnSwap,
	recordFact,
} from "../store/advance-swap.ts";
import { type Database, type DatabasePool, inTransaction } from "../store/database.ts";
import { dropExposure, insertExposure, takeExposure } from "../store/exposure.ts";
import { isFinalityBroken } from "../store/finality-breaks.ts";
import { type NewJob, queueJob } from "../store/jobs.ts";
import { bookLoss } from "../store/ledger/book-loss.ts";
import { markReservationOpened, reserveAgain, unreserve } from "../store/reservations.ts";
import { isWaitOver, setWait } from "../store/set-wait.ts";
import type { SwapRecord } from "../store/swap-record.ts";
import { recordUnsettledGas } from "../store/unsettled-gas.ts";
import { withdrawJob } from "../store/withdraw-job.ts";
import type { Desk } from "../venue/venue.ts";
import type { Action, Decision, QueueAction } from "./decision.ts";

/** What a decision waits for that only shows when it is applied. */
export type Hold = "exposure-cap" | "price-unknown" | "finality-broken";

/** Prices an order again that was opened late. */
export type DecisionDesk = Pick<Desk, "reprice" | "volumes" | "isPriceable">;

/** Whom to tell of work. */
export type Poke = { who: "lanes" | "attesters"; chainId: number };

export type Applied = {
	pokes: Poke[];
	isDue: boolean;
	heldBy?: Hold;
	/** As it was before; absent where nothing was done. */
	swap?: SwapRecord;
	/** Whether the fact was another before. */
	isNews: boolean;
	/** What it became by this, and was not before: stages, or a status that ends them. */
	moves: Move[];
};

/**
 * Does what was decided, all or nothing. Doing it again changes nothing, nor does doing what was decided before the swap
 * looked again: an execution that the engine gave up may still be alive.
 *
 * Locks are taken in one order everywhere: swap, jobs, waits, ladders, stock, exposure. All swaps to a token want its stock, and a
 * lane holds jobs while it asks a chain about them, so nobody may hold the one and wait for the other.
 */
export async function applyDecision(
	pool: DatabasePool,
	{
		swapId,
		signalId,
		decision,
		desk,
		nowMs,
	}: {
		swapId: string;
		/** Of the look from which it was decided. */
		signalId: string;
		decision: Decision;
		desk: DecisionDesk;
		nowMs: number;
	},
): Promise<Applied> {
	const { wait, actions, isEnd, fact } = decision;
	const applied = await inTransaction(pool, async (db): Promise<Applied> => {
		const swap = await lockSwap(db, swapId);
		if (!swap || swap.endedAt) return { pokes: [], isDue: false, isNews: false, moves: [] };
		const pokes: Poke[] = [];
		const moves: Move[] = [];
		for (const action of actions) {
			if (action.do === "queue") pokes.push(await queue(db, swap, action));
			else if (action.do === "advance") moves.push(...(await advance(db, swap, action.path)));
			else await act(db, swap, action);
		}
		const isNews = await recordFact(db, swapId, { fact, data: factData(decision) });
		if (isEnd) await recordUnsettledGas(db, { swapId, nowMs });
		if (isEnd && fact === "delivered-unopened") await bookLoss(db, swap.order);
		const look = { swapId, signalId };
		const outcome = isEnd ? await endSwap(db, look, { nowMs }) : await setWait(db, look, wait);
		if (outcome === "stale") throw new StaleDecisionError();
		// A swap that has ended keeps nothing, whatever led there.
		if (isEnd || actions.some((action) => action.do === "unreserve")) await unreserve(db, swapId);
		if (actions.some((action) => action.do === "reserve")) await reserve(db, swap, desk);
		if (isEnd || actions.some((action) => action.do === "unreserve" || action.do === "withdraw")) {
			await dropExposure(db, swapId);
		}
		// Last of all, for it is held by one at a time.
		for (const action of actions) {
			if (action.do !== "queue" || action.kind !== "fill" || !action.caps) continue;
			const { originChainId, destinationChainId } = swap.order;
			// What is known of a deposit there, or of a delivery, may not be so any more.
			const isBroken = await isFinalityBroken(db, [originChainId, destinationChainId].map(toChainId));
			if (isBroken) throw new HeldError("finality-broken");
			if (!(await takeExposure(db, { swap, caps: action.caps }))) throw new HeldError("exposure-cap");
		}
		if (decision.isAtRisk && !isEnd) await insertExposure(db, swap);
		return { pokes, isDue: outcome === "due", swap, isNews, moves };
	}).catch(async (error: unknown): Promise<Applied> => {
		if (error instanceof StaleDecisionError) return { pokes: [], isDue: true, isNews: false, moves: [] };
		if (!(error instanceof HeldError)) throw error;
		const rest = { ...decision, fact: error.hold, actions: unheld(actions) };
		const applied = await applyDecision(pool, { swapId, signalId, decision: rest, desk, nowMs });
		return { ...applied, heldBy: error.hold };
	});
	const isWaiting = !isEnd && (wait.head !== undefined || wait.finalized !== undefined);
	return { ...applied, isDue: applied.isDue || (isWaiting && (await isWaitOver(pool, wait))) };
}

/** Takes back what the transaction did so far. */
class StaleDecisionError extends Error {
	override name = "StaleDecisionError";
}

/** What could not be done now, and may be later. Takes back what the transaction did so far. */
class HeldError extends Error {
	override name = "HeldError";
	readonly hold: Hold;

	constructor(hold: Hold) {
		super(`held by ${hold}`);
		this.hold = hold;
	}
}

/** What can be done all the same: the output is not on its way yet. */
function unheld(actions: readonly Action[]): Action[] {
	return actions.flatMap((action): Action[] => {
		if (action.do === "reserve" || (action.do === "queue" && action.kind === "fill")) return [];
		if (action.do !== "advance") return [action];
		const path = action.path.filter((step) => step !== "delivering");
		return path.length > 0 ? [{ ...action, path }] : [];
	});
}

/** Returns what of the path was still before it. */
async function advance(db: Database, swap: SwapRecord, path: readonly Move[]): Promise<Move[]> {
	const outcome = await advanceSwap(db, swap, path);
	if (path.includes("deposited")) await markReservationOpened(db, swap.id);
	return outcome === "applied" ? path.slice(path.indexOf(swap.stage) + 1) : [];
}

async function act(
	db: Database,
	swap: SwapRecord,
	action: Exclude<Action, QueueAction | { do: "advance" }>,
): Promise<void> {
	switch (action.do) {
		case "note":
			return noteOnSwap(db, swap.id, action.notes);
		case "give-up":
			// The reason is told with a refund of the same round.
			swap.givingUp ??= action.code;
			return giveUpSwap(db, swap.id, action.code);
		case "withdraw":
			return withdrawJob(db, { swapId: swap.id, kind: action.kind });
		case "unreserve":
		case "reserve":
			// Once all other rows are held.
			return;
	}
}

/** What was reserved has lapsed: the price that it was reserved at may be gone. */
async function reserve(db: Database, swap: SwapRecord, desk: DecisionDesk): Promise<void> {
	if (!desk.isPriceable(swap.order)) throw new HeldError("price-unknown");
	const reserved = await reserveAgain(db, {
		swap,
		pairs: desk.volumes(swap),
		reserve: (inFlight) => desk.reprice(swap, inFlight),
	});
	if (reserved === "price") await giveUpSwap(db, swap.id, "PRICE_MOVED");
	if (reserved === "stock") await giveUpSwap(db, swap.id, "NO_LIQUIDITY");
}

async function queue(db: Database, swap: SwapRecord, action: QueueAction): Promise<Poke> {
	const job = newJob(swap, action);
	await queueJob(db, job);
	return { who: job.state === "unattested" ? "attesters" : "lanes", chainId: job.chainId };
}

function newJob({ id, orderId, order, op }: SwapRecord, action: QueueAction): NewJob {
	const origin = toChainId(order.originChainId);
	const destination = toChainId(order.destinationChainId);
	const common = { swapId: id, orderId, order, state: "queued" as const, alone: false, again: action.again };
	switch (action.kind) {
		case "open":
			if (!op) throw new Error(`swap ${id} has no op to open its order with`);
			return { ...common, kind: "open", chainId: origin, payload: { op } };
		case "fill":
			return { ...common, kind: "fill", chainId: destination, payload: { delivery: action.delivery } };
		case "void":
			return { ...common, kind: "void", chainId: destination, payload: {} };
		case "release":
			return { ...common, kind: "release", chainId: origin, payload: {}, state: stateOf(action) };
		case "refund": {
			const { attested } = action;
			return { ...common, kind: "refund", chainId: origin, payload: { attested }, state: stateOf(action) };
		}
	}
}

function stateOf({ attested }: { attested: boolean }): "unattested" | "queued" {
	return attested ? "unattested" : "queued";
}

/** What of the decision a reader of the history wants to know. */
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
