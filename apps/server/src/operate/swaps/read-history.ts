import { formatAddress, formatTransactionHash } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { skipCause } from "../../job/skip-cause.ts";
import type { JobKind, JobReason, JobState } from "../../swap/facts/job.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import type { SwapView } from "./swap-view.ts";

/**
 * Everything that is recorded about a swap besides its row. Addresses and hashes have the form that explorers use.
 */
export type SwapHistory = {
	/** The facts that rounds found, in order. */
	facts: { at: Date; fact: string; data: Record<string, unknown> }[];
	/** Its jobs. Those of a swap that has ended are deleted. */
	jobs: HistoryJob[];
	/** Every transaction that a lane signed for it, in order, replacements included. */
	transactions: HistoryTransaction[];
	/** Its order's events on the chains in their current state. */
	events: HistoryEvent[];
};

export type HistoryJob = {
	kind: JobKind;
	chainId: number;
	state: JobState;
	failures: number;
	/** Why it was refused. */
	reason: JobReason | null;
	/** Why the vault skipped it when it was last sent. */
	lastError: string | null;
	/** The lane that has it, and the nonce of its transaction. */
	relayer: string | null;
	nonce: number | null;
	/** The block before which no lane retries it. */
	notBeforeBlock: number;
	createdAt: Date;
	updatedAt: Date;
};

type HistoryTransaction = {
	kind: string;
	chainId: number;
	hash: string;
	relayer: string;
	nonce: number;
	attempt: number;
	/** `signed` is stored and not known to be sent. `final` without a block was replaced or given up. */
	state: "signed" | "broadcast" | "mined" | "final";
	blockNumber: number | null;
	signedAt: Date;
};

type HistoryEvent = {
	name: string;
	chainId: number;
	blockNumber: number;
	isFinal: boolean;
	transactionHash: string;
	/** The reason why the vault did not fill the order, if the event is `Skipped`. */
	cause?: string;
};

export async function readHistory(db: Database, swap: SwapRecord): Promise<SwapHistory> {
	const { rows: facts } = await db.query<SwapHistory["facts"][number]>(
		"select at, fact, data from swap_events where swap_id = $1 order by seq",
		[swap.id],
	);
	const { rows: transactions } = await db.query<
		Omit<HistoryTransaction, "hash" | "relayer"> & { hash: Buffer; relayer: Buffer }
	>(
		`select kind, chain_id as "chainId", hash, relayer, nonce, attempt, state, block_number as "blockNumber",
			created_at as "signedAt"
		from lane_transactions where jobs @> $1 order by created_at, nonce, attempt`,
		[JSON.stringify([{ swapId: swap.id }])],
	);
	const events = await readEvents(db, swap);
	const { rows: jobs } = await db.query<
		Omit<HistoryJob, "relayer" | "lastError"> & { relayer: Buffer | null }
	>(
		`select kind, chain_id as "chainId", state, failures, reason, relayer, nonce, not_before_block as "notBeforeBlock",
			created_at as "createdAt", updated_at as "updatedAt"
		from jobs where swap_id = $1 order by created_at, kind`,
		[swap.id],
	);
	return {
		facts,
		jobs: jobs.map((job) => ({
			...job,
			relayer: job.relayer && formatAddress(job.chainId, bytesToHex(job.relayer)),
			lastError: (job.kind === "fill" && events.findLast(({ cause }) => cause)?.cause) || null,
		})),
		transactions: transactions.map((one) => ({
			...one,
			hash: formatTransactionHash(one.chainId, bytesToHex(one.hash)),
			relayer: formatAddress(one.chainId, bytesToHex(one.relayer)),
		})),
		events,
	};
}

async function readEvents(db: Database, { orderId, delivery }: SwapRecord): Promise<HistoryEvent[]> {
	const { rows } = await db.query<
		Omit<HistoryEvent, "transactionHash" | "cause"> & { hash: Buffer; reason: Hex | null }
	>(
		`select e.name, e.chain_id as "chainId", e.block_number as "blockNumber",
			coalesce(e.block_number <= h.finalized_number, false) as "isFinal", e.transaction_hash as hash,
			e.data->>'reason' as reason
		from chain_events e left join chain_heads h using (chain_id)
		where e.order_id = $1 order by e.chain_id, e.block_number, e.log_index`,
		[hexToBytes(orderId)],
	);
	return rows.map(({ hash, reason, ...event }) => ({
		...event,
		transactionHash: formatTransactionHash(event.chainId, bytesToHex(hash)),
		...(event.name === "Skipped" &&
			reason && { cause: skipCause(reason, { throughRouter: delivery.kind === "router" }) }),
	}));
}

/** Something that happened to a swap at a known time. */
export type Moment = { at: Date } & (
	| { kind: "fact"; fact: string; givingUp: string | undefined }
	| { kind: "transaction"; transaction: HistoryTransaction }
	/** Nothing is left to do. */
	| { kind: "end" }
);

/** Returns what rounds found and lanes signed, oldest first. */
export function swapTimeline(
	{ endedAt }: Pick<SwapView, "endedAt">,
	{ facts, transactions }: SwapHistory,
): Moment[] {
	const moments: Moment[] = [
		...facts.map(({ at, fact, data }) => ({
			at,
			kind: "fact" as const,
			fact,
			givingUp: typeof data.givingUp === "string" ? data.givingUp : undefined,
		})),
		...transactions.map((transaction) => ({
			at: transaction.signedAt,
			kind: "transaction" as const,
			transaction,
		})),
		...(endedAt ? [{ at: new Date(endedAt), kind: "end" as const }] : []),
	];
	return moments.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
