import type { SwapUuid } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import type { Job, JobKind } from "./job.ts";
import { type JobRow, jobFromRow } from "./jobs.ts";

/** One relayer on one chain: a sequence of nonces. */
export type LaneId = { chainId: number; relayer: Address };

/** A transaction of a lane that is in no block yet, by its latest attempt. */
export type LaneTransaction = {
	nonce: number;
	attempt: number;
	hash: Hex;
	raw: Hex;
	/** A cancel takes the nonce and does nothing. A close gives back what old markers hold. */
	kind: JobKind | "cancel" | "close";
	jobs: LaneTransactionJob[];
	/** A close's: the addresses of what it closes. */
	markers?: Hex[];
	maxFeePerGas: bigint;
	/** Solana: the last height at which it can land. */
	lastValidHeight?: number;
	state: "signed" | "broadcast";
	sentAtBlock: number;
};

type LaneTransactionJob = { swapId: SwapUuid; kind: JobKind; orderId: Hex };
/** What the `jobs` column of a close lists. */
type LaneTransactionMarker = { marker: Hex };

/** The lane's next nonce is at least what the chain says. */
export async function raiseNonce(db: Database, lane: LaneId, chainNonce: number): Promise<void> {
	await db.query(
		`insert into lanes (chain_id, relayer, next_nonce) values ($1, $2, $3)
		on conflict (chain_id, relayer) do update set next_nonce = greatest(lanes.next_nonce, excluded.next_nonce)`,
		[...laneColumns(lane), chainNonce],
	);
}

/**
 * The lane's next nonce. Until the transaction ends nobody else signs for this lane: an execution that the engine gave
 * up and ran again elsewhere may still be alive.
 */
export async function lockNonce(db: Database, lane: LaneId): Promise<number> {
	const { rows } = await db.query<{ next_nonce: number }>(
		"select next_nonce from lanes where chain_id = $1 and relayer = $2 for update",
		laneColumns(lane),
	);
	if (!rows[0]) throw new Error(`lane ${lane.chainId}:${lane.relayer} has no nonce yet`);
	return rows[0].next_nonce;
}

/** Those that are in no block yet, lowest nonce first. */
export async function openLaneTransactions(db: Database, lane: LaneId): Promise<LaneTransaction[]> {
	const { rows } = await db.query<LaneTransactionRow>(
		`select distinct on (nonce) * from lane_transactions as latest
		where chain_id = $1 and relayer = $2 and state <> 'final' and not exists (
			select from lane_transactions as mined where mined.chain_id = latest.chain_id
				and mined.relayer = latest.relayer and mined.nonce = latest.nonce and mined.state in ('mined', 'final')
		)
		order by nonce, attempt desc`,
		laneColumns(lane),
	);
	return rows.map((row) => ({
		nonce: row.nonce,
		attempt: row.attempt,
		hash: bytesToHex(row.hash),
		raw: bytesToHex(row.raw),
		kind: row.kind,
		jobs: row.jobs.filter((job) => "swapId" in job),
		...(row.kind === "close" && {
			markers: row.jobs.flatMap((job) => ("marker" in job ? [job.marker] : [])),
		}),
		maxFeePerGas: row.max_fee_per_gas,
		...(row.last_valid_height === null ? {} : { lastValidHeight: row.last_valid_height }),
		state: row.state,
		sentAtBlock: row.sent_at_block,
	}));
}

/** Of a range of nonces, those for which this lane ever signed something. */
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

/** Lanes of relayers other than these that have such transactions. */
export async function readOrphanLanes(
	db: Database,
	{ chainId, relayers }: { chainId: number; relayers: readonly Hex[] },
): Promise<LaneId[]> {
	const { rows } = await db.query<{ relayer: Uint8Array }>(
		`select distinct relayer from lane_transactions
		where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($2)`,
		[chainId, relayers.map((relayer) => hexToBytes(relayer))],
	);
	return rows.map(({ relayer }) => ({ chainId, relayer: bytesToHex(relayer) }));
}

type LaneTransactionRow = {
	nonce: number;
	attempt: number;
	hash: Uint8Array;
	raw: Uint8Array;
	kind: LaneTransaction["kind"];
	jobs: (LaneTransactionJob | LaneTransactionMarker)[];
	max_fee_per_gas: bigint;
	last_valid_height: number | null;
	state: LaneTransaction["state"];
	sent_at_block: number;
};

/** Written before the transaction is sent: only bytes that are kept are ever sent. */
export async function insertLaneTransaction(
	db: Database,
	lane: LaneId,
	transaction: LaneTransaction,
): Promise<void> {
	await db.query(insertSql, rowOf(lane, transaction));
	await spendNonce(db, lane, transaction.nonce);
}

const insertSql = `insert into lane_transactions as known
		(chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state, sent_at_block,
		last_valid_height)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

function rowOf(lane: LaneId, transaction: LaneTransaction): unknown[] {
	const { jobs, markers = [] } = transaction;
	return [
		...laneColumns(lane),
		transaction.nonce,
		transaction.attempt,
		hexToBytes(transaction.hash),
		hexToBytes(transaction.raw),
		transaction.kind,
		JSON.stringify([...jobs, ...markers.map((marker): LaneTransactionMarker => ({ marker }))]),
		transaction.maxFeePerGas,
		transaction.state,
		transaction.sentAtBlock,
		transaction.lastValidHeight ?? null,
	];
}

async function spendNonce(db: Database, lane: LaneId, nonce: number): Promise<void> {
	await db.query(
		`update lanes set next_nonce = greatest(next_nonce, $3) where chain_id = $1 and relayer = $2`,
		[...laneColumns(lane), nonce + 1],
	);
}

/**
 * The same for one whose name follows from what it does, so that this store may know it: a chain dropped it, or said
 * that it was lost. Whoever follows the chain then looks for it again. Returns where it is kept, or undefined where it
 * is seen in a block.
 */
export async function adoptLaneTransaction(
	db: Database,
	lane: LaneId,
	transaction: LaneTransaction,
): Promise<{ relayer: Hex; nonce: number } | undefined> {
	const { rows } = await db.query<{ relayer: Uint8Array; nonce: number; state: string; is_new: boolean }>(
		`${insertSql} on conflict (chain_id, hash) do update set
			last_valid_height = case when ${isGivenUp} then excluded.last_valid_height else known.last_valid_height end,
			state = case when ${isGivenUp} then 'broadcast' else known.state end
		returning relayer, nonce, state, xmax = 0 as is_new`,
		rowOf(lane, transaction),
	);
	const [row] = rows;
	if (!row || row.state === "mined" || row.state === "final") return undefined;
	if (row.is_new) await spendNonce(db, lane, transaction.nonce);
	return { relayer: bytesToHex(row.relayer), nonce: row.nonce };
}

/** It ended in no block. */
const isGivenUp = "known.state = 'final' and known.block_number is null";

/** The chain was offered this attempt, at this block. */
export async function markBroadcast(
	db: Database,
	lane: LaneId,
	{ nonce, attempt, atBlock }: { nonce: number; attempt: number; atBlock: number },
): Promise<void> {
	await db.query(
		`update lane_transactions set state = 'broadcast', sent_at_block = $5
		where chain_id = $1 and relayer = $2 and nonce = $3 and attempt = $4 and state in ('signed', 'broadcast')`,
		[...laneColumns(lane), nonce, attempt, atBlock],
	);
}

/** Whether the chain took no attempt of that nonce. */
export async function wasNeverBroadcast(db: Database, lane: LaneId, nonce: number): Promise<boolean> {
	const { rows } = await db.query(
		`select from lane_transactions where chain_id = $1 and relayer = $2 and nonce = $3 and state <> 'signed' limit 1`,
		[...laneColumns(lane), nonce],
	);
	return rows.length === 0;
}

/** The nonce was spent, for good, on a transaction that is not ours: no attempt can land any more. */
export async function endLaneTransaction(db: Database, lane: LaneId, nonce: number): Promise<void> {
	await db.query(
		"update lane_transactions set state = 'final' where chain_id = $1 and relayer = $2 and nonce = $3",
		[...laneColumns(lane), nonce],
	);
}

/**
 * The transaction of that nonce can no longer land. Returns whether that is news: where someone has seen it in a block,
 * it is not so.
 */
export async function endUnseenTransaction(db: Database, lane: LaneId, nonce: number): Promise<boolean> {
	const { rowCount } = await db.query(
		`update lane_transactions set state = 'final'
		where chain_id = $1 and relayer = $2 and nonce = $3 and state in ('signed', 'broadcast')`,
		[...laneColumns(lane), nonce],
	);
	return rowCount === 1;
}

/** The jobs that still wait for the transaction of that nonce. */
export async function jobsOfNonce(db: Database, lane: LaneId, nonce: number): Promise<Job[]> {
	const { rows } = await db.query<JobRow>(
		"select * from jobs where chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'",
		[...laneColumns(lane), nonce],
	);
	return rows.map(jobFromRow);
}

function laneColumns({ chainId, relayer }: LaneId): [number, Uint8Array] {
	return [chainId, hexToBytes(relayer)];
}
