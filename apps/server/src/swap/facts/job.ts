import type { Order, SwapUuid } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Delivery, SignedOp, SignedSolanaOp } from "./swap-record.ts";

/** A lane's unit of work, which is one call for one order. */
export type JobKind = "open" | "fill" | "void" | "release" | "refund";

export type JobState =
	/** Waits for attesters to sign. */
	| "unattested"
	/** Waits for a lane. */
	| "queued"
	/** Is in a signed transaction. */
	| "sent"
	/** Its event is on the chain. */
	| "done"
	/** Will not be tried again; `reason` states why. */
	| "refused";

/** Why a job is refused. */
export type JobReason =
	/** The order can no longer be opened. */
	| "expired"
	/** A reorg could undo a fill made now after the order can no longer be filled. */
	| "too_late"
	/** The pools give less than the minimum. */
	| "price"
	/** The vault has too little of the token, or may not let more of it out. */
	| "liquidity"
	/** The recipient does not take the native token. */
	| "recipient"
	/** The recipient's token account is gone, and what is left after the cost of another is below the minimum. */
	| "account_gone"
	/** The operator's deny list has the wallet or the recipient. */
	| "denied"
	/** The chain refuses it repeatedly. */
	| "reverted";

/** The data that each kind needs besides the order. */
type JobPayload = {
	open: { op: SignedOp | SignedSolanaOp };
	fill: { delivery: Delivery };
	void: Record<never, never>;
	release: Record<never, never>;
	/** Attested: with attesters' signatures. A refund after `refundAfter`, or on one chain, needs none. */
	refund: { attested: boolean };
};

export type Job<Kind extends JobKind = JobKind> = {
	[K in Kind]: {
		swapId: SwapUuid;
		kind: K;
		chainId: number;
		orderId: Hex;
		order: Order;
		payload: JobPayload[K];
		state: JobState;
		alone: boolean;
		failures: number;
		reason: JobReason | undefined;
		attestationId: string | undefined;
	};
}[Kind];

/** Priority of each kind, lowest first. A release that comes too late is a double payment. */
export const jobPriority: Record<JobKind, number> = { release: 0, refund: 1, void: 2, fill: 3, open: 4 };

/** Number of refusals by a chain after which a job is refused permanently. */
export const maxFailures = 3;

/** Why an account counts a refusal. */
export type RefusalReason =
	/** The recipient did not take the output when it was paid. */
	| "recipient_refused"
	/** The recipient's token account was gone, and its rent took the output below its minimum. */
	| "recipient_account_gone";
