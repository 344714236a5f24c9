import type { Milliseconds } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import {
	type LaneId,
	type LaneTransaction,
	type LaneTransactionRow,
	laneTransactionFromRow,
	selectOpenTransactions,
} from "../job/journal/lane-transactions.ts";
import { isFree, isRipe } from "../job/take-jobs.ts";
import { type HeadJson, headFromJson, headJson } from "../swap/due/chain-head.ts";
import type { ChainHead } from "../swap/facts/facts.ts";

export type LaneView = {
	head: ChainHead;
	/** The lane's next nonce; undefined if the lane has never run. */
	nextNonce: number | undefined;
	/** Its transactions that are in no block yet, lowest nonce first. */
	open: LaneTransaction[];
	/** True if a job of the chain waits for a lane and can be tried now. */
	hasWork: boolean;
	/** True if a delegation on the chain is to be removed. */
	hasRemovals: boolean;
	/** True if a relayer of the chain that is not among the given ones has a transaction that is in no block yet. */
	hasOrphans: boolean;
};

/**
 * Reads all the state that a lane acts on, in one statement. Returns undefined if the chain was never followed. Checks
 * for orphans only if the relayers of the chain are given.
 */
export async function loadLaneState(
	db: Database,
	lane: LaneId,
	{ relayers }: { relayers?: readonly Hex[] } = {},
): Promise<LaneView | undefined> {
	const { rows } = await db.query<LaneRow & (LaneTransactionRow | { nonce: null })>(
		`select ${headJson} as head, lanes.next_nonce,
			exists (select from jobs where chain_id = $1 and ${isRipe("head.number")} and ${isFree}) as has_work,
			exists (select from delegation_removals where chain_id = $1 and state = 'queued') as has_removals,
			$3::bytea[] is not null and exists (
				select from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($3)
			) as has_orphans,
			open.nonce, open.attempt, open.hash, open.raw, open.kind, open.jobs, open.max_fee_per_gas,
			open.last_valid_height, open.state, open.sent_at_block
		from chain_heads head
		left join lanes on lanes.chain_id = $1 and lanes.relayer = $2
		left join (${selectOpenTransactions}) open on true
		where head.chain_id = $1 order by open.nonce`,
		[lane.chainId, hexToBytes(lane.relayer), relayers?.map((relayer) => hexToBytes(relayer)) ?? null],
	);
	const [row] = rows;
	if (!row) return undefined;
	return {
		head: headFromJson(row.head),
		nextNonce: row.next_nonce ?? undefined,
		open: rows.flatMap((each) => (each.nonce === null ? [] : [laneTransactionFromRow(each)])),
		hasWork: row.has_work,
		hasRemovals: row.has_removals,
		hasOrphans: row.has_orphans,
	};
}

type LaneRow = {
	head: HeadJson;
	next_nonce: number | null;
	has_work: boolean;
	has_removals: boolean;
	has_orphans: boolean;
};

/**
 * The length of a lane's leases. A worker that dies blocks its jobs for that long, so leases are short. Another worker
 * then takes the jobs at the next tick, within a second. A node may need longer, and the work of a lost lease is
 * discarded. The next lease is then twice as long, and after one that ended in time, three times as long as that took.
 */
export type LeaseTime = {
	ms: () => number;
	ended: (lease: { outcome: "journalled" | "changed" | "lost"; tookMs: Milliseconds }) => void;
};

const shortestMs = 2_000;
/** About the longest time that all calls to a node for one bundle take until they time out. */
const maxMs = 64_000;

export function createLeaseTime(): LeaseTime {
	let nextMs = shortestMs;
	return {
		ms: () => nextMs,
		ended: ({ outcome, tookMs }) => {
			const wantedMs = outcome === "lost" ? nextMs * 2 : tookMs * 3;
			nextMs = Math.min(Math.max(wantedMs, shortestMs), maxMs);
		},
	};
}
