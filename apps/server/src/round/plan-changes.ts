import { type FailureCode, toChainId } from "@geoswap/protocol";
import type { NewJob } from "../job/jobs.ts";
import type { QueuedJob } from "../job/queue-jobs.ts";
import type { Decision, DepositToSee, QueueAction } from "../swap/decide/decision.ts";
import type { NextWait } from "../swap/due/write-waits.ts";
import type { WaitFor } from "../swap/facts/facts.ts";
import type { RefusalReason } from "../swap/facts/job.ts";
import type { SwapRecord } from "../swap/facts/swap-record.ts";
import { applyTransition } from "./apply-transition.ts";
import type { Permitted } from "./decide-swap.ts";
import type { SwapChange } from "./write-swaps.ts";

/** The changes that a round writes for a swap, by table. */
export type Plan = {
	permitted: Permitted;
	change: SwapChange | undefined;
	queue: QueuedJob[];
	/** True if its order is open. */
	isOpened: boolean;
	refusal: RefusalReason | undefined;
	/** Undefined if the swap ends. */
	next: NextWait | undefined;
};

/** Time until the next round of a swap that nothing wakes. It doubles each time. */
const unwokenMs = 60_000;
const maxWaitMs = 600_000;
/** Time after which an unanswered question is repeated, by poking its handler. */
const unansweredMs = 30_000;

/** Returns what to write for the permitted part of a decision. Pure. Throws if the swap cannot make a move. */
export function planChanges(permitted: Permitted): Plan {
	const { swap, decision, turn } = permitted;
	const { actions, isEnd } = decision;
	return {
		permitted,
		change: changeOf(swap, decision),
		queue: actions.flatMap((action) => (action.do === "queue" ? [{ job: newJob(swap, action), turn }] : [])),
		isOpened: actions.some((action) => action.do === "advance" && action.path.includes("deposited")),
		refusal: actions.findLast((action) => action.do === "give-up")?.refusal,
		next: isEnd ? undefined : nextWait(permitted),
	};
}

function changeOf(swap: SwapRecord, { actions, isEnd }: Decision): SwapChange | undefined {
	let change: SwapChange = {
		swapId: swap.id,
		stage: swap.stage,
		status: swap.status,
		steps: [],
		failure: undefined,
		notes: {},
		givingUp: undefined,
		isEnd,
		isVisible: false,
	};
	for (const action of actions) {
		if (action.do === "note") {
			change = { ...change, notes: { ...change.notes, ...action.notes }, isVisible: true };
		} else if (action.do === "give-up") {
			change = { ...change, givingUp: change.givingUp ?? action.code, isVisible: true };
		} else if (action.do === "advance") {
			const moved = applyTransition(swap, action.path);
			if (!moved) continue;
			// A refund in the same round gets the reason too.
			const reason = swap.givingUp ?? change.givingUp;
			const failure = failureOf(moved.status, reason);
			change = { ...change, ...moved, failure, isVisible: true };
		}
	}
	return change.isVisible || isEnd ? change : undefined;
}

function failureOf(status: SwapChange["status"], reason: FailureCode | undefined): FailureCode | undefined {
	if (status === "failed") return "NOT_OPENED";
	return status === "refunded" ? reason : undefined;
}

function newJob({ id, orderId, order, op }: SwapRecord, action: QueueAction): NewJob {
	const origin = toChainId(order.originChainId);
	const destination = toChainId(order.destinationChainId);
	const common = { swapId: id, orderId, order, state: "queued" as const, again: action.again };
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

/** Returns the time of the next round for the swap, and the state to keep for it. */
function nextWait({ swap, facts, wait: before, decision }: Permitted): NextWait {
	const { fact, depositToSee, momentMs = Number.POSITIVE_INFINITY } = decision;
	const isIdle = fact === before.fact;
	const idleRounds = isIdle ? before.idleRounds + 1 : 0;
	const next = {
		swapId: swap.id,
		mark: before.mark,
		wait: stillToCome(decision.wait, facts),
		fact,
		isInCase: false,
	};
	const patienceMs = patienceOf(decision, idleRounds);
	if (!depositToSee) {
		const dueMs = Math.min(momentMs, patienceMs);
		// At a known moment the facts change, or soon will, so from then on the swap has frequent rounds again.
		const isInCase = dueMs === patienceMs && decision.timeoutMs === undefined;
		return { ...next, dueMs, isInCase, idleRounds: dueMs < patienceMs ? 0 : idleRounds, ask: undefined };
	}
	// A second provider is queried as often as the swap would have rounds, and immediately if the deposit has moved.
	const isSame = before.ask !== undefined && isSameDeposit(before.ask.deposit, depositToSee);
	const leftMs = isSame && !before.ask?.isOpen && before.second ? patienceMs - before.second.ageMs : 0;
	if (leftMs > 0) return { ...next, dueMs: Math.min(momentMs, leftMs), idleRounds, ask: undefined };
	return {
		...next,
		dueMs: Math.min(momentMs, unansweredMs),
		// This round does not count as idle, because the query is news. The round after its answer counts.
		idleRounds: isIdle ? before.idleRounds : 0,
		ask: { chainId: depositToSee.chainId, deposit: depositToSee },
	};
}

/** Returns how long to wait without being woken, longer with each idle round. */
function patienceOf({ timeoutMs }: Decision, idleRounds: number): number {
	const ms =
		timeoutMs === undefined
			? unwokenMs * 2 ** Math.min(idleRounds, 10)
			: timeoutMs * (1 + Math.floor(idleRounds / 10));
	return Math.min(maxWaitMs, ms);
}

/**
 * Removes heights that were already reached when the facts were read, because the decision has taken them into account.
 */
function stillToCome({ head, finalized }: WaitFor, facts: Permitted["facts"]): WaitFor {
	const headOf = (chainId: number) =>
		[facts?.origin, facts?.destination].find((known) => known?.chainId === chainId);
	return {
		...(head && head.number > (headOf(head.chainId)?.number ?? 0) && { head }),
		...(finalized && finalized.number > (headOf(finalized.chainId)?.finalizedNumber ?? 0) && { finalized }),
	};
}

function isSameDeposit(asked: unknown, { blockNumber, blockHash, transactionHash }: DepositToSee): boolean {
	const before = asked as Partial<DepositToSee>;
	return (
		before.blockNumber === blockNumber &&
		before.blockHash === blockHash &&
		before.transactionHash === transactionHash
	);
}
