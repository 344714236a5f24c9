import type { SwapUuid, Wei } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import type { GasSpent } from "../../money/ledger/book-final.ts";
import { markListed } from "../../swap/due/mark-swaps.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { type JobRow, jobFromRow } from "../jobs.ts";

/** One relayer on one chain: a sequence of nonces. */
export type LaneId = { chainId: number; relayer: Address };

/** A transaction of a lane that is in no block yet, by its latest attempt. */
export type LaneTransaction = {
	nonce: number;
	attempt: number;
	hash: Hex;
	raw: Hex;
	/** A cancel uses up the nonce and does nothing. A close fetches rents. A move is one of the treasurer's key. */
	kind: JobKind | "cancel" | "close" | "move";
	jobs: LaneTransactionJob[];
	/** The id of the row of the move that it makes, or mints. */
	move?: string;
	/** Addresses of the accounts that a close closes. */
	accounts?: Hex[];
	maxFeePerGas: Wei;
	/** Solana: the last height at which it can land. */
	lastValidHeight?: number;
	state: "signed" | "broadcast";
	/** The chain's newest block when it last took the transaction, or first refused it. Absent until it has answered. */
	sentAtBlock?: number;
};

type LaneTransactionJob = { swapId: SwapUuid; kind: JobKind; orderId: Hex };
/** An item in the `jobs` column of a close. */
type LaneTransactionAccount = { account: Hex };
/** The item in the `jobs` column of a move, and of the cancel that takes its place. */
type LaneTransactionMove = { move: string };

/** Raises the lane's next nonce to at least the chain's. */
export async function raiseNonce(db: Database, lane: LaneId, chainNonce: number): Promise<void> {
	await db.query(
		`insert into lanes (chain_id, relayer, next_nonce) values ($1, $2, $3)
		on conflict (chain_id, relayer) do update set next_nonce = greatest(lanes.next_nonce, excluded.next_nonce)`,
		[...laneColumns(lane), chainNonce],
	);
}

/** SQL: true if no attempt at the nonce of `open` is in a block. `open` is a row of lane_transactions. */
export const isInNoBlock = `not exists (
	select from lane_transactions as mined where mined.chain_id = open.chain_id
		and mined.relayer = open.relayer and mined.nonce = open.nonce and mined.state in ('mined', 'final')
)`;

/** Selects the latest attempt of each of a lane's transactions that is in no block yet. $1 and $2 name the lane. */
export const selectOpenTransactions = `select distinct on (nonce) * from lane_transactions as open
	where chain_id = $1 and relayer = $2 and state <> 'final' and ${isInNoBlock}
	order by nonce, attempt desc`;

/** Returns the transactions that are in no block yet, lowest nonce first. */
export async function openLaneTransactions(db: Database, lane: LaneId): Promise<LaneTransaction[]> {
	const { rows } = await db.query<LaneTransactionRow>(selectOpenTransactions, laneColumns(lane));
	return rows.map(laneTransactionFromRow);
}

export function laneTransactionFromRow(row: LaneTransactionRow): LaneTransaction {
	const moved = row.jobs.find((job) => "move" in job);
	return {
		nonce: row.nonce,
		attempt: row.attempt,
		hash: bytesToHex(row.hash),
		raw: bytesToHex(row.raw),
		kind: row.kind,
		jobs: row.jobs.filter((job) => "swapId" in job),
		...(row.kind === "close" && {
			accounts: row.jobs.flatMap((job) => ("account" in job ? [job.account] : [])),
		}),
		...(moved && { move: moved.move }),
		maxFeePerGas: row.max_fee_per_gas,
		...(row.last_valid_height === null ? {} : { lastValidHeight: row.last_valid_height }),
		state: row.state,
		...(row.sent_at_block === null ? {} : { sentAtBlock: row.sent_at_block }),
	};
}

export type LaneTransactionRow = Row<
	"lane_transactions",
	"nonce" | "attempt" | "hash" | "raw" | "max_fee_per_gas" | "last_valid_height" | "sent_at_block"
> &
	Pick<LaneTransaction, "kind" | "state"> & {
		jobs: (LaneTransactionJob | LaneTransactionAccount | LaneTransactionMove)[];
	};

/**
 * Journals attempts for nonces below the lane's next one, before any is sent, because only stored bytes are ever sent.
 * Returns those that it wrote. It skips an attempt if its nonce is settled, or another run was faster with it.
 */
export async function insertAttempts(
	db: Database,
	lane: LaneId,
	transactions: readonly LaneTransaction[],
	{
		countsFailures = false,
	}: {
		/**
		 * True if the call is given up because of its jobs. Each then counts a failure and stays with the nonce until it is
		 * spent.
		 */
		countsFailures?: boolean;
	} = {},
): Promise<LaneTransaction[]> {
	const { rows } = await db.query<{ nonce: number }>(
		namedParameters(
			`with inserted as (
				insert into lane_transactions (${transactionColumnNames})
				select $chainId, $relayer, t.* from ${unnestTransactions} as t (nonce) where not exists (
					select from lane_transactions settled where settled.chain_id = $chainId and settled.relayer = $relayer
						and settled.nonce = t.nonce and settled.state in ('mined', 'final')
				) on conflict do nothing returning nonce
			), failed as (
				update jobs set failures = failures + 1, alone = true, updated_at = now()
				where $countsFailures and chain_id = $chainId and relayer = $relayer and state = 'sent'
					and nonce in (select nonce from inserted)
			)
			select nonce from inserted`,
			{
				chainId: lane.chainId,
				relayer: hexToBytes(lane.relayer),
				...transactionColumns(transactions),
				countsFailures,
			},
		),
	);
	return transactions.filter(({ nonce }) => rows.some((row) => row.nonce === nonce));
}

/** Returns the nonces in a range for which this lane ever signed something. */
export async function noncesKnown(
	db: Database,
	lane: LaneId,
	{ from, to }: { from: number; to: number },
): Promise<Set<number>> {
	const { rows } = await db.query<{ nonce: number }>(
		`select distinct nonce from lane_transactions
		where chain_id = $1 and relayer = $2 and nonce >= $3 and nonce < $4`,
		[...laneColumns(lane), from, to],
	);
	return new Set(rows.map(({ nonce }) => nonce));
}

export const transactionColumnNames = `chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
	sent_at_block, last_valid_height`;

/** SQL for the columns of transactions after the lane's, with the parameters that `transactionColumns` returns. */
export const unnestTransactions = `unnest($nonces::bigint[], $attempts::int[], $hashes::bytea[], $raws::bytea[],
	$transactionKinds::text[], $transactionJobs::jsonb[], $maxFeesPerGas::numeric[], $states::text[],
	$sentAtBlocks::bigint[], $lastValidHeights::bigint[])`;

export function transactionColumns(transactions: readonly LaneTransaction[]) {
	return {
		nonces: transactions.map(({ nonce }) => nonce),
		attempts: transactions.map(({ attempt }) => attempt),
		hashes: transactions.map(({ hash }) => hexToBytes(hash)),
		raws: transactions.map(({ raw }) => hexToBytes(raw)),
		transactionKinds: transactions.map(({ kind }) => kind),
		transactionJobs: transactions.map(({ jobs, accounts = [], move }) =>
			JSON.stringify([
				...jobs,
				...accounts.map((account): LaneTransactionAccount => ({ account })),
				...(move ? [{ move } satisfies LaneTransactionMove] : []),
			]),
		),
		maxFeesPerGas: transactions.map(({ maxFeePerGas }) => maxFeePerGas),
		states: transactions.map(({ state }) => state),
		sentAtBlocks: transactions.map(({ sentAtBlock }) => sentAtBlock ?? null),
		lastValidHeights: transactions.map(({ lastValidHeight }) => lastValidHeight ?? null),
	};
}

/**
 * Conflict clause for an insert as `known`. A transaction's hash may follow from what it does, so this store may have
 * it already, because a chain dropped it, or reported it as lost. The follower then searches for it again.
 */
export const adoptKnown = `on conflict (chain_id, hash) do update set
	last_valid_height = case when known.state = 'final' and known.block_number is null
		then excluded.last_valid_height else known.last_valid_height end,
	state = case when known.state = 'final' and known.block_number is null then 'broadcast' else known.state end`;

/** Marks attempts as taken by the chain, whose newest block was this one. */
export async function markBroadcast(
	db: Database,
	lane: LaneId,
	transactions: readonly Pick<LaneTransaction, "nonce" | "attempt">[],
	{ atBlock }: { atBlock: number },
): Promise<void> {
	if (transactions.length === 0) return;
	await db.query(
		`update lane_transactions set state = 'broadcast', sent_at_block = $5
		where chain_id = $1 and relayer = $2 and (nonce, attempt) in (select * from unnest($3::bigint[], $4::int[]))
			and state in ('signed', 'broadcast')`,
		[
			...laneColumns(lane),
			transactions.map(({ nonce }) => nonce),
			transactions.map(({ attempt }) => attempt),
			atBlock,
		],
	);
}

/** Notes the chain's newest block when it refused an attempt, unless it has answered about that attempt before. */
export async function noteRefused(
	db: Database,
	lane: LaneId,
	{ nonce, attempt }: Pick<LaneTransaction, "nonce" | "attempt">,
	{ atBlock }: { atBlock: number },
): Promise<void> {
	await db.query(
		`update lane_transactions set sent_at_block = $5
		where chain_id = $1 and relayer = $2 and nonce = $3 and attempt = $4 and sent_at_block is null`,
		[...laneColumns(lane), nonce, attempt, atBlock],
	);
}

/**
 * Ends a nonce that was permanently spent on a transaction that is not the lane's. No attempt can land any more, and
 * its jobs go back to the queue. Returns whether that is news; does nothing if an attempt was found in a block.
 */
export async function endLaneTransaction(db: Database, lane: LaneId, nonce: number): Promise<boolean> {
	const { rowCount } = await db.query(
		`with ended as (
			update lane_transactions set state = 'final' where chain_id = $1 and relayer = $2 and nonce = $3
				and not exists (select from lane_transactions where chain_id = $1 and relayer = $2 and nonce = $3
					and state in ('mined', 'final'))
			returning nonce
		), requeued as (${requeueSentJobs} and exists (select from ended))
		select from ended`,
		[...laneColumns(lane), nonce],
	);
	return (rowCount ?? 0) > 0;
}

/** Requeues the jobs of a transaction if the chain accepted none of its attempts, so that other lanes can do them. */
export async function giveBackUnsent(db: Database, lane: LaneId, nonce: number): Promise<void> {
	await db.query(
		`${requeueSentJobs} and not exists (select from lane_transactions
			where chain_id = $1 and relayer = $2 and nonce = $3 and state <> 'signed')`,
		[...laneColumns(lane), nonce],
	);
}

/**
 * Ends the transaction of a nonce, which can no longer land. Its jobs go back to the queue, except an open, which
 * cannot be signed twice. Their swaps are due. Returns whether that is news; does nothing if it was found in a block.
 */
export async function endUnseenTransaction(db: Database, lane: LaneId, nonce: number): Promise<boolean> {
	const { rowCount } = await db.query(
		`with ended as (
			update lane_transactions set state = 'final'
			where chain_id = $1 and relayer = $2 and nonce = $3 and state in ('signed', 'broadcast') returning nonce
		), refused as (
			update jobs set state = 'refused', reason = 'expired', updated_at = now()
			where ${isOfNonce} and kind = 'open' and exists (select from ended) returning swap_id
		), requeued as (
			${requeueSentJobs} and kind <> 'open' and exists (select from ended) returning swap_id
		), ${markListed("select swap_id from refused union all select swap_id from requeued")}
		select from ended`,
		[...laneColumns(lane), nonce],
	);
	return (rowCount ?? 0) > 0;
}

const isOfNonce = "chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'";
const requeueSentJobs = `update jobs set state = 'queued', relayer = null, nonce = null, updated_at = now()
	where ${isOfNonce}`;

/** Returns the jobs that still wait for the transaction of that nonce. */
export async function jobsOfNonce(db: Database, lane: LaneId, nonce: number): Promise<Job[]> {
	const { rows } = await db.query<JobRow>(`select * from jobs where ${isOfNonce}`, [
		...laneColumns(lane),
		nonce,
	]);
	return rows.map(jobFromRow);
}

function laneColumns({ chainId, relayer }: LaneId): [number, Uint8Array] {
	return [chainId, hexToBytes(relayer)];
}

/** A transaction that one of our relayers paid for, and that was found on the chain. Its bytes are not known. */
export type FoundTransaction = {
	hash: Hex;
	relayer: Hex;
	/** Absent if it returned rents. */
	job?: { swapId: SwapUuid; kind: JobKind; orderId: Hex } | undefined;
};

/** Adds found transactions to the journal, so that their fees are booked. Known ones stay as they are. */
export async function adoptFound(
	db: Database,
	{ chainId, found }: { chainId: number; found: readonly FoundTransaction[] },
): Promise<void> {
	for (const { hash, relayer, job } of found) {
		await raiseNonce(db, { chainId, relayer }, 0);
		await db.query(
			`with lane as (
				update lanes set next_nonce = next_nonce + 1 where chain_id = $1 and relayer = $2 and not exists (
					select from lane_transactions where chain_id = $1 and hash = $3
				) returning next_nonce - 1 as nonce
			)
			insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state)
			select $1, $2, nonce, 0, $3, '', $4, $5, 0, 'broadcast' from lane`,
			[
				chainId,
				hexToBytes(relayer),
				hexToBytes(hash),
				job?.kind ?? "close",
				JSON.stringify(job ? [job] : []),
			],
		);
	}
}

/** Ends all attempts of each nonce with a final transaction, because no other can be mined. Returns the gas costs. */
export async function settleNonces(
	db: Database,
	{ chainId, finalizedNumber }: { chainId: number; finalizedNumber: number },
): Promise<GasSpent[]> {
	const { rows } = await db.query<Row<"lane_transactions", "hash" | "block_number" | "gas_cost">>(
		`update lane_transactions t set state = 'final' from lane_transactions m
		where m.chain_id = $1 and m.state = 'mined' and m.block_number <= $2
			and t.chain_id = m.chain_id and t.relayer = m.relayer and t.nonce = m.nonce
		returning t.hash, t.block_number, t.gas_cost`,
		[chainId, finalizedNumber],
	);
	return rows.flatMap(({ hash, block_number, gas_cost }) =>
		block_number === null || gas_cost === null
			? []
			: [{ hash: bytesToHex(hash), blockNumber: block_number, gasCost: gas_cost }],
	);
}
