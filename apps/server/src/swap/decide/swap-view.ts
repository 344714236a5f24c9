import type { Milliseconds } from "@geoswap/protocol";
import type { ChainHead, Facts, WaitFor } from "../facts/facts.ts";
import type { Action } from "./decision.ts";
import { type OrderView, orderView } from "./order-view.ts";
import type { ChainPolicy, SwapPolicy } from "./swap-policy.ts";
import { untilFinal } from "./until.ts";

/** Seconds within which a dropped op is noticed, sent again and mined. */
const maxSecondsToBringBack = 60;

/** Maximum time from a swap's creation time until other transactions can read its row. */
const maxSubmitMs = 20_000;

/** An EVM chain. */
const evmRules: ChainRules = {
	// Decided by the escrow's own state, because a node can leave the deposit out of its logs.
	isOpenExpired: ({ swap, origin, openDeadline }) =>
		origin.comparedTimestamp > openDeadline &&
		swap.createdAt.getTime() + maxSubmitMs < origin.comparedAtMs &&
		!origin.unseenOrders.includes(swap.orderId),
	untilOpenExpired: (view) => untilFinal(view, view.origin, view.openDeadline),
	// A refused op is not sent again, but a third party may send it.
	openAgain: ({ swap, jobs, origin, openDeadline, nowMs }) => {
		if (swap.givingUp) return jobs.open?.state === "queued" ? [{ do: "withdraw", kind: "open" }] : [];
		const isInTime = Math.max(origin.timestamp, nowMs / 1_000) <= openDeadline;
		const isUndone = !jobs.open || jobs.open.state === "done";
		return swap.op && isInTime && isUndone
			? [{ do: "queue", kind: "open", again: jobs.open !== undefined }]
			: [];
	},
	canBringBack: ({ origin, openDeadline, nowMs, policy }) => {
		const secondsLeft = openDeadline - Math.max(origin.timestamp, nowMs / 1_000);
		return secondsLeft >= Math.min(maxSecondsToBringBack, policy.origin.finalitySeconds);
	},
	refundCloses: false,
};

/**
 * Solana. Two things differ from an EVM chain. The wallet's transaction expires with its blockhash and is sent by one
 * lane only. And within Solana the refund itself closes the order, since the program pays either the fill or the refund.
 */
const solanaRules: ChainRules = {
	...evmRules,
	// The one message can no longer land, the lane has searched for it since, and after that the order's account was not
	// there at a final slot. Only the wallet itself could still open the order, and could take its input back.
	isOpenExpired: (view) => {
		const { origin, jobs, nowMs, swap } = view;
		const { state, ageMs } = jobs.open ?? {};
		const isDead = origin.finalizedHeight > lastOpenHeight(swap) && state === "refused";
		const isCompared = ageMs !== undefined && origin.comparedAtMs > nowMs - ageMs;
		const isThere = origin.unseenOrders.includes(swap.orderId);
		return (isDead && isCompared && !isThere) || evmRules.isOpenExpired(view);
	},
	// The wallet signed one message, which is co-signed once, so an existing job is left to its lane.
	openAgain: (view) => {
		const { swap, jobs } = view;
		return jobs.open && !swap.givingUp ? [] : evmRules.openAgain(view);
	},
	// A dropped deposit can only be sent again as the same bytes, while they are valid. They must stay valid for at least
	// as many blocks as are not final now.
	canBringBack: ({ swap, origin }) => {
		const unfinal = origin.number - origin.finalizedNumber;
		return lastOpenHeight(swap) - (origin.finalizedHeight + unfinal) >= unfinal;
	},
	refundCloses: true,
};

/** Returns the last height at which the wallet's message can land; 0 if there is none. */
function lastOpenHeight({ op }: Facts["swap"]): number {
	return op && "kind" in op ? Number(op.lastValidBlockHeight) : 0;
}

/** The facts, and what follows from them and the clocks alone. */
export type SwapView = OrderView & {
	originRules: ChainRules;
	isPending: boolean;
	/** True if a signed transaction may still fill the order. */
	isFillOut: boolean;
	/** True if the order cannot be opened in any future block. */
	isOpenExpired: boolean;
	/** True if the order cannot be filled in any future block. */
	isFillExpired: boolean;
};

const rulesOf: Record<ChainPolicy["kind"], ChainRules> = { evm: evmRules, solana: solanaRules };

export function swapView(facts: Facts, policy: SwapPolicy, nowMs: Milliseconds): SwapView {
	const view = orderView(facts, policy, nowMs);
	const originRules = rulesOf[policy.origin.kind];
	const isFillExpired = view.destination.finalizedTimestamp >= view.fillDeadline;
	const { fill } = facts.jobs;
	return {
		...view,
		originRules,
		isPending: facts.swap.status === "pending",
		isFillOut: !isFillExpired && (fill?.state === "sent" || fill?.state === "done"),
		isOpenExpired: originRules.isOpenExpired(view),
		isFillExpired,
	};
}

/**
 * Returns the time in Unix seconds from which on no fill is signed. If the chain drops the fill, there must be time to
 * notice that and to fill again.
 */
export function lastFillAt({ fillDeadline, policy }: SwapView): number {
	return fillDeadline - policy.destination.finalitySeconds;
}

export function isTooLateToFill(view: SwapView): boolean {
	return Math.max(view.destination.timestamp, view.nowMs / 1_000) >= lastFillAt(view);
}

/** Returns whether the head is too old for a healthy chain and follower. Deposits that it still shows may be gone. */
export function isStale({ policy, origin, nowMs }: SwapView, head: ChainHead): boolean {
	const { finalitySeconds } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return nowMs / 1_000 - head.timestamp > Math.max(60, finalitySeconds / 10);
}

/** The decisions about a swap that depend on the kind of its chains. All of them are pure. */
type ChainRules = {
	/** Returns whether the order cannot be opened in any future block of its origin. */
	isOpenExpired: (view: OrderView) => boolean;
	/** Returns the wait until the order can no longer be opened. */
	untilOpenExpired: (view: OrderView) => { wait: WaitFor };
	/** Returns the action that queues the open while the op can open the order, or that withdraws it. */
	openAgain: (view: OrderView) => Action[];
	/** Returns whether a deposit that the chain drops now could be made again in time. */
	canBringBack: (view: OrderView) => boolean;
	/** True if within this chain the refund itself closes the order, as only one of payout and refund can land. */
	refundCloses: boolean;
};
