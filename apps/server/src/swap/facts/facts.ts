import type { Hex } from "viem";
import type { Job, JobKind } from "./job.ts";
import type { SwapRecord } from "./swap-record.ts";

/** How far a chain is, as the follower saw it. */
export type ChainHead = {
	chainId: number;
	number: number;
	timestamp: number;
	baseFee: bigint;
	finalizedNumber: number;
	finalizedTimestamp: number;
	/** Solana: how many blocks there were up to the final one; some numbers have none. Else 0. */
	finalizedHeight: number;
};

/** An event of the order on the chain as it is now. */
export type OrderEvent<Name extends OrderEventName = OrderEventName> = {
	[N in Name]: {
		name: N;
		blockNumber: number;
		/** On Solana zero: there a slot and a transaction say where it is. */
		blockHash: Hex;
		transactionHash: Hex;
		data: OrderEventData[N];
	};
}[Name];

export type OrderEventName = "Opened" | "Released" | "Refunded" | "Filled" | "Voided";
export type OrderEventData = {
	Opened: Record<never, never>;
	/** Not paid: it became a credit of its beneficiary. */
	Released: { paid: boolean };
	Refunded: { paid: boolean };
	Filled: { delivered: bigint; spentToken: Hex; spent: bigint };
	Voided: Record<never, never>;
};

/** How far a chain's second provider was when it was asked for a deposit, and had it in the same block. */
export type Sighting = { headNumber: number; finalizedNumber: number };

/** What came of asking a second provider for a deposit: `silent` where it did not answer. */
export type SecondWord = "agrees" | "behind" | "differs" | "silent";

/** What it said last, since when it has said so, and whether a person was told that it differs. */
export type SecondAnswer = { word: SecondWord; sinceMs: number; isAlarmed: boolean };

/** What a decision needs to know of a job. */
export type FactJob = Pick<Job, "chainId" | "state" | "reason"> & {
	/** Since something was written about it. */
	ageMs?: number;
};

/** Everything that the next decision about a swap depends on. Read in one statement. */
export type Facts = {
	swap: SwapRecord;
	origin: ChainHead;
	destination: ChainHead;
	events: { [Name in OrderEventName]?: OrderEvent<Name> };
	/** Of the deposit where it is now; absent where the second provider has not been found to have it there. */
	sighting?: Sighting;
	/** Where the refund became a credit: what paid that credit out. */
	claimed?: Pick<OrderEvent, "blockNumber" | "transactionHash">;
	jobs: { [Kind in JobKind]?: FactJob };
	/** Whether stock is reserved for it. */
	isReserved: boolean;
	/** How many attesters of its set were heard of lately, on both its chains. */
	attestersAlive: number;
};
