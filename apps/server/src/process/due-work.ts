import { type Milliseconds, solanaChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../database/database.ts";
import { isFree } from "../job/take-jobs.ts";
import { reachedSwaps } from "../swap/due/due-swaps.ts";

/** A chain's work that is due or overdue. */
export type DueOfChain = {
	chainId: number;
	/** Jobs and removals of delegations that any lane of the chain could take. */
	jobs: Due;
	/** Jobs that attesters have not signed for yet. */
	attestations: Due;
	/** True if there are cross-checks for the chain's second provider. */
	hasQuestions: boolean;
	/** Relayers, in lower case, with a transaction that was signed and not broadcast, or not mined for a while. */
	stuckRelayers: Hex[];
};

export type Due = "no" | "due" | "overdue";

export type DueWork = { round: Due; chains: DueOfChain[] };

/** Milliseconds in which a lane gets a job, and waits for others to bundle with it. */
const laneMs = 500;
/** Milliseconds before attesters that have just declined an order get it again. */
const attestMs = 2_000;
/**
 * The minimum age in milliseconds at which a transaction that is not mined is checked, regardless of how fast the
 * chain is.
 */
const mineMs = 5_000;

/**
 * Reads, for the tick, the work that is due, and the work that has been due for longer than a poked process needs. It
 * is not stored since when a swap is due by a chain's height, so such a swap is made due by time here, and is found
 * to be overdue later.
 */
export async function readDueWork(
	db: Database,
	{ overdueMs }: { overdueMs: Milliseconds },
): Promise<DueWork> {
	const { rows } = await db.query<DueWork>({
		name: "read-due-work",
		text: `with reached as materialized (
				${reachedSwaps({ limit: "100", where: "due_at > now()" })}
			), held as materialized (
				select swap_id from waits where swap_id = any(array(select swap_id from reached))
				order by swap_id for update skip locked
			), moved as (
				update waits w set due_at = now() from held where w.swap_id = held.swap_id returning 1
			), chains as (
				select h.chain_id,
					${dueOf(`select from (${laneWork}) work where true`, "work.since", laneMs)} as jobs,
					${dueOf("select from jobs j where j.chain_id = h.chain_id and j.state = 'unattested'", "j.updated_at", attestMs)}
						as attestations,
					exists (select from waits w where w.ask_chain_id = h.chain_id) as has_questions,
					array(select distinct '0x' || encode(t.relayer, 'hex') from lane_transactions t
						where t.chain_id = h.chain_id and (
							t.state = 'signed' and t.created_at <= now() - ${interval("$1")}
							or t.state = 'broadcast' and coalesce(t.sent_at_block, 0) < h.number - 1
								and t.created_at <= now() - ${interval(String(mineMs))}
						)) as stuck_relayers
				from chain_heads h
			)
			select case when exists (select from waits where due_at <= now() - ${interval("$1")}) then 'overdue'
					when exists (select from moved) or exists (select from waits where due_at <= now()) then 'due'
					else 'no' end as round,
				coalesce((select json_agg(json_build_object('chainId', chain_id, 'jobs', jobs, 'attestations', attestations,
					'hasQuestions', has_questions, 'stuckRelayers', stuck_relayers)) from chains), '[]') as chains`,
		values: [overdueMs],
	});
	const [row] = rows;
	return { round: row?.round ?? "no", chains: row?.chains ?? [] };
}

/** The lanes' own condition. Only a job that Solana refused waits for its slot for any length of time. */
const isRipe = `j.chain_id = h.chain_id and j.state = 'queued' and (j.not_before_block <= h.number
	or (j.failures = 0 or h.chain_id <> ${solanaChainId}) and j.updated_at < now() - interval '30 seconds')
	and ${isFree}`;

const laneWork = `select j.updated_at as since from jobs j where ${isRipe}
	union all select r.created_at from delegation_removals r where r.chain_id = h.chain_id and r.state = 'queued'`;

function dueOf(rows: string, since: string, afterMs: Milliseconds): string {
	const isOlder = (ms: string) => `exists (${rows} and ${since} <= now() - ${interval(ms)})`;
	return `case when ${isOlder(`(${afterMs} + $1)`)} then 'overdue' when ${isOlder(String(afterMs))} then 'due' else 'no' end`;
}

function interval(ms: string): string {
	return `${ms} * interval '1 millisecond'`;
}
