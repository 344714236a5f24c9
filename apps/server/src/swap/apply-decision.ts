import { fromWord, toChainId } from "@geoswap/protocol";
import type { Address } from "viem";
import { advanceSwap, endSwap, giveUpSwap, lockSwap, noteOnSwap, recordFact } from "../store/advance-swap.ts";
import { type Database, type DatabasePool, inTransaction } from "../store/database.ts";
import { type NewJob, queueJob } from "../store/jobs.ts";
import { markReservationOpened, reserveAgain, unreserve } from "../store/reservations.ts";
import { isWaitOver, setWait } from "../store/set-wait.ts";
import type { SwapRecord } from "../store/swap-record.ts";
import { withdrawJob } from "../store/withdraw-job.ts";
import type { Action, Decision, QueueAction } from "./decision.ts";

/** Whom to tell of work. */
export type Poke = { who: "lanes" | "attesters"; chainId: number };

/** Does what was decided, all or nothing. Doing it again changes nothing. */
export async function applyDecision(
	pool: DatabasePool,
	{
		swapId,
		decision,
		settlementTokenOf,
		nowMs,
	}: {
		swapId: string;
		decision: Decision;
		/** What buys an output that is not in stock. */
		settlementTokenOf: (chainId: number) => Address | undefined;
		nowMs: number;
	},
): Promise<{ pokes: Poke[]; isDue: boolean }> {
	const { wait, actions, isEnd, fact } = decision;
	const applied = await inTransaction(pool, async (db) => {
		const swap = await lockSwap(db, swapId);
		if (!swap || swap.endedAt) return { pokes: [], isDue: false };
		const pokes: Poke[] = [];
		for (const action of actions) {
			if (action.do === "queue") pokes.push(await queue(db, swap, action));
			else await act(db, swap, action, settlementTokenOf);
		}
		await recordFact(db, swapId, { fact, data: factData(decision) });
		if (isEnd) await endSwap(db, swapId, { nowMs });
		return { pokes, isDue: !isEnd && !(await setWait(db, swapId, wait)) };
	});
	const isWaiting = !isEnd && (wait.head !== undefined || wait.finalized !== undefined);
	return { ...applied, isDue: applied.isDue || (isWaiting && (await isWaitOver(pool, wait))) };
}

async function act(
	db: Database,
	swap: SwapRecord,
	action: Exclude<Action, QueueAction>,
	settlementTokenOf: (chainId: number) => Address | undefined,
): Promise<void> {
	switch (action.do) {
		case "advance":
			await advanceSwap(db, swap, action.path);
			if (action.path.includes("deposited")) await markReservationOpened(db, swap.id);
			return;
		case "note":
			return noteOnSwap(db, swap.id, action.notes);
		case "give-up":
			// The reason is told with a refund of the same round.
			swap.givingUp ??= action.code;
			return giveUpSwap(db, swap.id, action.code);
		case "withdraw":
			return withdrawJob(db, { swapId: swap.id, kind: action.kind });
		case "unreserve":
			return unreserve(db, swap.id);
		case "reserve":
			if (!(await reserve(db, swap, settlementTokenOf))) await giveUpSwap(db, swap.id, "NO_LIQUIDITY");
	}
}

async function reserve(
	db: Database,
	{ id, accountId, order, delivery, valueUsdCents }: SwapRecord,
	settlementTokenOf: (chainId: number) => Address | undefined,
): Promise<boolean> {
	const chainId = toChainId(order.destinationChainId);
	const token = delivery.kind === "stock" ? fromWord(order.outputToken) : settlementTokenOf(chainId);
	if (!token) return false;
	const amount = delivery.kind === "stock" ? delivery.amount : delivery.budget;
	return reserveAgain(db, { swapId: id, accountId, chainId, token, amount, valueUsdCents });
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
			return { ...common, kind: "release", chainId: origin, payload: {}, state: "unattested" };
		case "refund": {
			const { attested } = action;
			const state = attested ? "unattested" : "queued";
			return { ...common, kind: "refund", chainId: origin, payload: { attested }, state };
		}
	}
}

/** What of the decision a reader of the history wants to know. */
function factData({ actions }: Decision): Record<string, unknown> {
	const data: Record<string, unknown> = {};
	for (const action of actions) {
		if (action.do === "give-up") data.givingUp = action.code;
		if (action.do === "note") {
			for (const [field, value] of Object.entries(action.notes)) data[field] = value && String(value);
		}
	}
	return data;
}
