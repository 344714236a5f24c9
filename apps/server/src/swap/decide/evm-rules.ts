import type { ChainRules } from "./chain-rules.ts";
import { untilFinal } from "./until.ts";

/** Seconds within which a dropped op is noticed, sent again and mined. */
const maxSecondsToBringBack = 60;

/** Maximum time from a swap's creation time until other transactions can read its row. */
const maxSubmitMs = 20_000;

/** An EVM chain. */
export const evmRules: ChainRules = {
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
