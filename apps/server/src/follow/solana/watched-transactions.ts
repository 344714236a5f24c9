import { type Order, orderSchema } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { type Database, definedRow } from "../../database/database.ts";
import { isHeadOld } from "../../swap/due/chain-head.ts";
import type { JobKind } from "../../swap/facts/job.ts";

/** A lane's transaction about which the chain may still report something new. */
export type WatchedTransaction = {
	hash: Hex;
	/** The slot in which it was found. */
	slot: number | undefined;
	lastValidHeight: number | undefined;
	/** True for a deposit that was given up as lost. */
	isGivenUp: boolean;
};

/**
 * Reads a Solana chain's transactions that are not final, and the deposits that were given up recently, because an
 * operator must be notified if one of these has landed after all.
 */
export async function readWatched(db: Database, chainId: number): Promise<WatchedTransaction[]> {
	const select = `select '0x' || encode(hash, 'hex') as hash, block_number as slot,
		last_valid_height as "lastValidHeight", state = 'final' as "isGivenUp" from lane_transactions`;
	const { rows } = await db.query<WatchedTransaction>(
		`${select} where chain_id = $1 and state <> 'final'
		union all
		${select} where chain_id = $1 and kind = 'open' and state = 'final' and block_number is null
			and last_valid_height is not null and created_at > now() - interval '1 hour'`,
		[chainId],
	);
	return rows.map(definedRow);
}

/**
 * Returns whether the chain may have news, because one of our transactions is in flight, a swap waits for the chain to
 * reach a slot, or the head was not written for a while.
 */
export async function isWatchNeeded(db: Database, chainId: number): Promise<boolean> {
	const { rows } = await db.query<{ needed: boolean }>({
		name: "is-watch-needed",
		text: `select exists (select from lane_transactions where chain_id = $1 and state <> 'final')
			or exists (select from waits where head_chain_id = $1)
			or exists (select from waits where finalized_chain_id = $1)
			or ${isHeadOld} as needed`,
		values: [chainId],
	});
	return rows[0]?.needed ?? true;
}

/** The purpose of a transaction: a job for an order, or closing accounts. */
export type WatchedWork = { kind: JobKind; orderId: Hex; order: Order } | { kind: "close" };

/** Reads the purpose of each transaction, by its hash. */
export async function readWatchedWork(
	db: Database,
	{ chainId, hashes }: { chainId: number; hashes: readonly Hex[] },
): Promise<Map<Hex, WatchedWork>> {
	const { rows } = await db.query<{
		hash: Buffer;
		kind: string;
		job_kind: JobKind | null;
		order_id: Buffer | null;
		order_terms: unknown;
	}>(
		// A transaction that was found on the chain may be of a kind without a job, so the order is taken from any job.
		`select t.hash, t.kind, t.jobs->0->>'kind' as job_kind, j.order_id, j.order_terms from lane_transactions t
		left join lateral (
			select order_id, order_terms from jobs where swap_id = (t.jobs->0->>'swapId')::uuid
			union all
			select order_id, order_terms from swaps where id = (t.jobs->0->>'swapId')::uuid
			limit 1
		) j on true
		where t.chain_id = $1 and t.hash = any($2)`,
		[chainId, hashes.map((hash) => hexToBytes(hash))],
	);
	return new Map(
		rows.flatMap(({ hash, kind, job_kind, order_id, order_terms }): [Hex, WatchedWork][] => {
			if (kind === "close") return [[bytesToHex(hash), { kind }]];
			if (!job_kind || !order_id) return [];
			const order = orderSchema.parse(order_terms);
			return [[bytesToHex(hash), { kind: job_kind, orderId: bytesToHex(order_id), order }]];
		}),
	);
}

/** Reads the orders of these transactions' jobs. */
export async function readWatchedOrders(
	db: Database,
	{ chainId, hashes }: { chainId: number; hashes: readonly Hex[] },
): Promise<Hex[]> {
	if (hashes.length === 0) return [];
	const { rows } = await db.query<{ order_id: Hex }>(
		`select distinct job->>'orderId' as order_id from lane_transactions, jsonb_array_elements(jobs) as job
		where chain_id = $1 and hash = any($2) and job ? 'orderId'`,
		[chainId, hashes.map((hash) => hexToBytes(hash))],
	);
	return rows.map((row) => row.order_id);
}

/**
 * Reads our newest final transaction and its slot, if that is above the given one. While the chain still has this
 * transaction, the chain has everything before it.
 */
export async function readFinalWitness(
	db: Database,
	{ chainId, above, upTo }: { chainId: number; above: number; upTo: number },
): Promise<{ hash: Hex; slot: number } | undefined> {
	const { rows } = await db.query<{ hash: Hex; slot: number }>(
		`select '0x' || encode(transaction_hash, 'hex') as hash, block_number as slot from chain_events
		where chain_id = $1 and block_number > $2 and block_number <= $3
		order by block_number desc, log_index desc limit 1`,
		[chainId, above, upTo],
	);
	return rows[0];
}
