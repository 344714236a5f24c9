import type { FailureCode } from "@geoswap/protocol";
import type { DepositPlace } from "../facts/deposit-place.ts";
import type { ExposureCaps } from "../facts/exposure-caps.ts";
import type { StrikeReason } from "../facts/strike-reason.ts";
import type { Move, Notes } from "../facts/swap-notes.ts";
import type { Delivery } from "../facts/swap-record.ts";
import type { WaitFor } from "../facts/wait-for.ts";

/** A job to be queued. `again`: also where there is one that is done, refused or not attested. */
export type QueueAction = { do: "queue"; again: boolean } & (
	| { kind: "open" | "void" }
	/**
	 * Not where it would put more at risk than the caps allow. `agreeAboveUsd`: the value above which a second provider
	 * had to have the deposit too. `deposit`: where that was then, and how far its chain.
	 */
	| {
			kind: "fill";
			delivery: Delivery;
			caps?: ExposureCaps;
			agreeAboveUsd?: number;
			deposit?: DepositThen;
	  }
	/** Attested: once attesters have signed for it. */
	| { kind: "release" | "refund"; attested: boolean }
);

/** What a delivery was decided on. `blocksNeeded` is null where the deposit had to be final. */
export type DepositThen = {
	blockNumber: number;
	headNumber: number;
	finalizedNumber: number;
	blocksNeeded: number | null;
};

export type Action =
	/** Through these, each a step of the one table. */
	| { do: "advance"; path: Move[] }
	| { do: "note"; notes: Notes }
	/** From now on the output is not delivered any more. `strike`: the recipient is to blame, and the account is struck. */
	| { do: "give-up"; code: FailureCode; strike?: StrikeReason }
	| QueueAction
	/** Takes a job back, where no transaction has it yet. */
	| { do: "withdraw"; kind: "open" | "fill" | "void" }
	/**
	 * Reserves what the delivery takes, at the price of now where that is worse; gives up where it is below the minimum or
	 * there is too little.
	 */
	| { do: "reserve" }
	| { do: "unreserve" };

/** A deposit that a second provider is to be asked for, and how far that one must be: with what is final, or its head. */
export type DepositToSee = DepositPlace & { finalizedNumber: number; headNumber?: number };

/** A decision is not applied as long as this holds it, which only shows when it is applied. */
export type Hold = "exposure-cap" | "price-unknown" | "finality-broken";

/** The name of the step that a swap is at. Histories, logs and traces show it. */
export type Fact =
	| Hold
	// The chains cannot be judged.
	| "chain-behind"
	| "chain-unconfigured"
	| "chain-unfollowed"
	| "destination-stale"
	| "origin-stale"
	// Before the deposit.
	| "deposit-dropped"
	| "not-opened"
	| "opening"
	// From the deposit to the delivery.
	| "attesters-silent"
	| "delivering"
	| "deposit-moved"
	| "deposit-not-final"
	| "deposit-unseen"
	| "deposited"
	| "stock-not-reserved"
	// After the delivery.
	| "delivered"
	| "delivered-and-refunded"
	| "delivered-unopened"
	| "delivery-final"
	| "released"
	| "released-undelivered"
	// Back to the wallet.
	| "closed-unopened"
	| "expiring"
	| "fill-undecided"
	| "fill-withdrawn"
	| "refund-credited"
	| "refund-final"
	| "refunded"
	| "refunding"
	| "refunding-unseen"
	| "voided"
	| "voiding";

/** What to do about a swap now, and what to wait for then. */
export type Decision = {
	fact: Fact;
	actions: Action[];
	/** The output is delivered, and the input neither ours nor gone: its value counts as such. */
	isAtRisk?: true;
	/** To be asked for once the actions are done, and before anything is waited for. */
	depositToSee?: DepositToSee;
	wait: WaitFor;
	/** When to look again: at a moment that is known, and after this where a fact changes that marks no swap. */
	momentMs?: number;
	timeoutMs?: number;
	/** Act only after this: what was refused is not tried again at once. */
	pauseMs: number;
	/** Nothing is left to do, for good. */
	isEnd: boolean;
};
