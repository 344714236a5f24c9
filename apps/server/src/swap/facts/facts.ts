import type { Milliseconds, Seconds, UsdCents, Wei } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { Job, JobKind } from "./job.ts";
import type { SwapRecord } from "./swap-record.ts";

/** The head and the final block of a chain, as the follower read them. */
export type ChainHead = {
	chainId: number;
	number: number;
	timestamp: number;
	baseFee: Wei;
	finalizedNumber: number;
	finalizedTimestamp: number;
	/** Solana: number of blocks up to the final one, since some slots have none. 0 on other chains. */
	finalizedHeight: number;
	/** The time of the newest final block at which orders without a deposit were compared with the escrow. 0 on Solana. */
	comparedTimestamp: number;
	/** When that comparison read the undecided swaps. */
	comparedAtMs: Milliseconds;
	/** Orders that the contracts had decided at that block, although no node returns the events. */
	unseenOrders: readonly Hex[];
};

/** An event of the order on the chain as it is now. */
export type OrderEvent<Name extends OrderEventName = OrderEventName> = {
	[N in Name]: {
		name: N;
		blockNumber: number;
		/** Zero on Solana, where the slot and the transaction identify the place. */
		blockHash: Hex;
		transactionHash: Hex;
		data: OrderEventData[N];
	};
}[Name];

export type OrderEventName = "Opened" | "Released" | "Refunded" | "Filled" | "Voided";
export type OrderEventData = {
	Opened: Record<never, never>;
	/** `paid` is false if it became a credit of its beneficiary. */
	Released: { paid: boolean };
	Refunded: { paid: boolean };
	Filled: { delivered: bigint; spentToken: Hex; spent: bigint };
	Voided: Record<never, never>;
};

/** The second provider's head and final block when it was queried for a deposit and had it in the same block. */
export type CrossCheck = { headNumber: number; finalizedNumber: number };

/** A second provider's answer about a deposit; `silent` if it did not answer. */
export type SecondWord = "agrees" | "behind" | "differs" | "silent";

/** The provider's last answer, since when it has given it, and whether an operator was notified that it differs. */
export type SecondAnswer = { word: SecondWord; sinceMs: Milliseconds; isAlarmed: boolean };

/** The fields of a job that decisions depend on. */
export type FactJob = Pick<Job, "chainId" | "state" | "reason"> & {
	/** Milliseconds since the job's row was last updated. */
	ageMs?: Milliseconds;
};

/** Everything that the next decision about a swap depends on. Read in one statement. */
export type Facts = {
	swap: SwapRecord;
	origin: ChainHead;
	destination: ChainHead;
	events: { [Name in OrderEventName]?: OrderEvent<Name> };
	/**
	 * The cross-check of the deposit in its present block; absent if the second provider was not found to have it there.
	 */
	crossCheck?: CrossCheck;
	/** The claim that paid out the refund, if that became a credit. */
	claimed?: Pick<OrderEvent, "blockNumber" | "transactionHash">;
	jobs: { [Kind in JobKind]?: FactJob };
	/** True if inventory is reserved for it. */
	isReserved: boolean;
	/** Number of attesters of its set with a recent heartbeat on both its chains. */
	attestersAlive: number;
};

export type DepositPlace = { chainId: number; blockNumber: number; blockHash: Hex; transactionHash: Hex };

/** Block numbers to wait for: of a chain's head, or of its finalized block. */
export type WaitFor = {
	head?: { chainId: number; number: number };
	finalized?: { chainId: number; number: number };
};

export type AttestersWanted = {
	attesters: readonly Address[];
	/** The chains for which each attester must have recent heartbeats. */
	chainIds: readonly number[];
	/** Maximum age of a heartbeat. */
	heartbeatSeconds: Seconds;
	/** Seconds that the final block in their heartbeats may be behind the follower's. */
	sightSeconds: Seconds;
};

type Caps = { unreleasedUsdCents: UsdCents; unfinalUsdCents: UsdCents };

/** The maximum that may be at risk in flight for inputs from one chain, of all swaps and of one account's. */
export type ExposureCaps = Caps & { ofAccount: Caps };
