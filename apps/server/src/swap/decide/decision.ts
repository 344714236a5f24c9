import type { FailureCode, Milliseconds } from "@geoswap/protocol";
import type { DepositPlace, ExposureCaps, WaitFor } from "../facts/facts.ts";
import type { RefusalReason } from "../facts/job.ts";
import type { Delivery, Move, Notes } from "../facts/swap-record.ts";

/** A job to queue. `again`: also if there is one that is done, refused or not attested. */
export type QueueAction = { do: "queue"; again: boolean } & (
	| { kind: "open" | "void" }
	/**
	 * Not queued if it would put more at risk than `caps` allow. `agreeAboveUsd`: the value above which a second provider
	 * had to have the deposit too. `deposit`: its block at that time, and its chain's head.
	 */
	| {
			kind: "fill";
			delivery: Delivery;
			caps?: ExposureCaps;
			agreeAboveUsd?: number;
			deposit?: DepositThen;
	  }
	/** Attested: waits until attesters have signed for it. */
	| { kind: "release" | "refund"; attested: boolean }
);

/** The depth of the deposit when a delivery was decided. `blocksNeeded` is null if the deposit had to be final. */
export type DepositThen = {
	blockNumber: number;
	headNumber: number;
	finalizedNumber: number;
	blocksNeeded: number | null;
};

export type Action =
	/** Moves the swap along this path, each step as in the transition table. */
	| { do: "advance"; path: Move[] }
	| { do: "note"; notes: Notes }
	/**
	 * Stops delivering the output, from now on. With `refusal` the recipient caused it, and a refusal is counted for
	 * the account.
	 */
	| { do: "give-up"; code: FailureCode; refusal?: RefusalReason }
	| QueueAction
	/** Takes a job back, if it is in no transaction yet. */
	| { do: "withdraw"; kind: "open" | "fill" | "void" }
	/**
	 * Reserves what the delivery takes, at the current price if that is worse. Gives up if the output is below its
	 * minimum or the inventory is too small.
	 */
	| { do: "reserve" }
	| { do: "unreserve" };

/** A deposit to query a second provider for, and how far the provider must be, with its final block or its head. */
export type DepositToSee = DepositPlace & { finalizedNumber: number; headNumber?: number };

/** A reason to hold a decision back, which is found only when the decision is applied. */
export type Hold = "exposure-cap" | "price-unknown" | "finality-broken";

/** The name of the step that a swap is at. Histories, logs and traces show it. */
export type Fact =
	| Hold
	// Facts of swaps whose chains cannot be judged.
	| "chain-behind"
	| "chain-unconfigured"
	| "chain-unfollowed"
	| "destination-stale"
	| "origin-stale"
	// Facts of swaps before the deposit.
	| "deposit-dropped"
	| "not-opened"
	| "opening"
	// Facts of swaps from the deposit to the delivery.
	| "attesters-silent"
	| "delivering"
	| "deposit-moved"
	| "deposit-unseen"
	| "deposited"
	| "inventory-not-reserved"
	// Facts of swaps after the delivery.
	| "delivered"
	| "delivered-and-refunded"
	| "delivered-unopened"
	| "delivery-final"
	| "released"
	| "released-undelivered"
	// Facts of swaps whose input goes back to the wallet.
	| "closed-unopened"
	| "expiring"
	| "fill-undecided"
	| "fill-withdrawn"
	| "refund-credited"
	| "refund-final"
	| "refunded"
	| "refunding"
	| "voided"
	| "voiding";

/** The actions to take for a swap now, and the wait after them. */
export type Decision = {
	fact: Fact;
	actions: Action[];
	/**
	 * True if the output is delivered and the input neither released nor refunded. The swap's value then counts as at
	 * risk.
	 */
	isAtRisk?: true;
	/** The deposit to query a second provider for, once the actions are done and before any wait. */
	depositToSee?: DepositToSee;
	wait: WaitFor;
	/**
	 * Time until the next round: `momentMs` for a known moment, `timeoutMs` if a fact may change without marking the
	 * swap.
	 */
	momentMs?: Milliseconds;
	timeoutMs?: Milliseconds;
	/** Time to wait before acting, because a refused job is not retried immediately. */
	pauseMs: Milliseconds;
	/** True if nothing is left to do, permanently. */
	isEnd: boolean;
};
