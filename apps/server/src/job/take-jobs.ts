import type { Milliseconds, SolanaAddress } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database, Part } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { Row } from "../database/rows.ts";
import { type Job, jobPriority } from "../swap/facts/job.ts";
import { type JobKey, type JobRow, jobColumns, jobFromRow } from "./jobs.ts";
import { journalLease, type LeasedOutcome } from "./journal/journal-lease.ts";
import type { LaneId } from "./journal/lane-transactions.ts";

/**
 * Jobs that only one lane may do until its lease expires. No lock is held meanwhile. Instead, the lane's writes name
 * the lease.
 */
export type LeasedJobs = {
	/** The number of the lease, which is counted per lane. */
	lease: number;
	/** The jobs, in the order of the queue. Empty if every leased job is malformed. */
	jobs: Job[];
	/** Jobs whose rows cannot be parsed. They are no longer leased. See `setAside`. */
	malformed: MalformedJob[];
	/** The lane's next nonce. */
	nonce: number;
	/** True if other jobs wait that can be tried now. */
	hasMore: boolean;
};

export type MalformedJob = JobKey & { err: unknown };

type Lease = {
	/** The chain's head. */
	headNumber: number;
	/** Time for which others leave the jobs to this lane. */
	leaseMs: Milliseconds;
	/** The maximum number of jobs to take. */
	limit: number;
};

/**
 * Returns SQL for whether a job can be tried now. A chain without traffic makes no blocks, so a job may also have
 * waited long enough by time. The clock is the one that wrote when the job was put back. By a clock that is ahead of
 * it, the job would be taken again immediately, forever.
 */
export function isRipe(headNumber: string): string {
	return `state = 'queued' and (not_before_block <= ${headNumber} or updated_at < now() - interval '30 seconds')`;
}

/** SQL for whether no lane has the job now. The clock of leases is the database's, which all lanes share. */
export const isFree = "(leased_until is null or leased_until <= now())";

const isNext = `chain_id = $chainId and ${isRipe("$headNumber")} and ${isFree}`;

/** The order within a priority: opens that the chain refused go last, the others in the turns of their accounts. */
const inTurn = "case kind when 'open' then failures else 0 end, turn, created_at";

/**
 * SQL for whether a job's op has an authorization. It is a path, so that the planner does not take it for a rare null.
 */
const isAuthorized = "payload @? '$.op.authorization'";

const nextLease = `lane as (
	update lanes set lease = lease + 1 where chain_id = $chainId and relayer = $relayer returning lease, next_nonce
)`;

/** Leases the jobs that `picked` lists. */
const leasePicked = `leased as (
	update jobs set relayer = $relayer, lease = (select lease from lane),
		leased_until = now() + $leaseMs * interval '1 millisecond'
	where (swap_id, kind) in (select swap_id, kind from picked) and exists (select from lane)
	returning ${jobColumns}, priority, turn, created_at
)`;

/** SQL for whether other jobs wait. They are found by the index, like the picked jobs, which come first in it. */
const hasMore = `coalesce((
	select true from jobs where ${isNext} and (swap_id, kind) not in (select swap_id, kind from picked)
	order by priority, ${inTurn} limit 1
), false) as has_more`;

/**
 * Leases the jobs that go next, for one transaction, in one statement. The jobs of a list of orders that was signed for
 * as a whole come first, releases before refunds. If there is none, takes the job that goes first and those that can be
 * in one transaction with it: of its kind, for the same contract, and none that must be sent alone.
 *
 * Skips jobs that another lane has leased. Skips a whole list if another lane has leased any of its jobs, since both
 * would send the complete list.
 */
export async function takeBundle(
	db: Database,
	lane: LaneId,
	{ headNumber, leaseMs, limit, releasesOnly }: Lease & { releasesOnly: boolean },
): Promise<LeasedJobs | undefined> {
	return take(db, lane, {
		headNumber,
		query: namedParameters(
			`with ${nextLease}, list as (
				select id from attestations where id = any(array(
					select attestation_id from jobs where ${isNext} and priority <= $maxPriority and attestation_id is not null
				)) and not exists (
					select from jobs where chain_id = $chainId and state = 'queued' and priority <= $maxPriority
						and attestation_id = attestations.id and not ${isFree}
				)
				order by kind = 'Release' desc, created_at limit 1 for update skip locked
			), attested as (
				select swap_id, kind from jobs where ${isNext} and priority <= $maxPriority
					and attestation_id = (select id from list)
				for update skip locked
			), first as (
				select swap_id, kind, priority, order_terms->>'destinationVault' as vault, order_terms->>'escrow' as escrow,
					alone or kind = 'refund' or ${isAuthorized} as is_alone
				from jobs where ${isNext} and attestation_id is null and not $releasesOnly and not exists (select from attested)
				order by priority, ${inTurn} limit 1 for update skip locked
			), more as (
				select swap_id, kind from jobs where ${isNext} and attestation_id is null and not alone
					and priority = (select priority from first where not is_alone)
					and swap_id <> (select swap_id from first) and not ${isAuthorized}
					and case when kind = 'open' then order_terms->>'escrow' = (select escrow from first)
						when kind in ('fill', 'void') then order_terms->>'destinationVault' = (select vault from first)
						else true end
				order by ${inTurn} limit $limit - 1 for update skip locked
			), picked as (
				select swap_id, kind from attested union all select swap_id, kind from first
				union all select swap_id, kind from more
			), ${leasePicked}
			select leased.*, lane.*, ${hasMore}
			from leased cross join lane
			order by case leased.kind when 'open' then failures else 0 end, turn, created_at`,
			{
				chainId: lane.chainId,
				relayer: hexToBytes(lane.relayer),
				headNumber,
				leaseMs,
				maxPriority: jobPriority[releasesOnly ? "release" : "refund"],
				releasesOnly,
				limit,
			},
		),
	});
}

/**
 * Leases the jobs that go first, of any kind, for separate transactions. An op names its fee payer, so only that lane
 * can send it, and a lane that can pay for no more leaves the rest to others. Releases go before all other work, then
 * the jobs that were refused least often, because a wallet can make its refunds fail forever, and these must not delay
 * the refunds of others.
 *
 * Solana makes slots without traffic too. A refused job waits for its slot, because otherwise hundreds of refunds that
 * can never be paid would be tried all the time.
 */
export async function takeSingleJobs(
	db: Database,
	lane: LaneId,
	{
		headNumber,
		leaseMs,
		limit,
		feePayer,
		isOpensOnly,
	}: Lease & { feePayer: SolanaAddress; isOpensOnly: boolean },
): Promise<LeasedJobs | undefined> {
	return take(db, lane, {
		headNumber,
		query: namedParameters(
			`with ${nextLease}, picked as (
				select swap_id, kind from jobs where ${isNext} and (not_before_block <= $headNumber or failures = 0)
					and (kind <> 'open' and not $isOpensOnly or payload->'op'->>'feePayer' = $feePayer)
				order by kind <> 'release', failures, priority, turn, created_at limit $limit for update skip locked
			), ${leasePicked}
			select leased.*, lane.*, false as has_more from leased cross join lane
			order by kind <> 'release', failures, priority, turn, created_at`,
			{
				chainId: lane.chainId,
				relayer: hexToBytes(lane.relayer),
				headNumber,
				leaseMs,
				feePayer,
				isOpensOnly,
				limit,
			},
		),
	});
}

async function take(
	db: Database,
	lane: LaneId,
	{ headNumber, query }: { headNumber: number; query: Part },
): Promise<LeasedJobs | undefined> {
	const { rows } = await db.query<TakenRow>(query);
	const [first] = rows;
	if (!first) return undefined;
	const { lease, next_nonce: nonce, has_more: hasMore } = first;
	const jobs: Job[] = [];
	const malformed: MalformedJob[] = [];
	for (const row of rows) {
		try {
			jobs.push(jobFromRow(row));
		} catch (err) {
			malformed.push({ swapId: row.swap_id, kind: row.kind, err });
		}
	}
	if (malformed.length > 0) await setAside(db, lane, { lease, nonce, malformed, headNumber });
	return { lease, nonce, hasMore, jobs, malformed };
}

/** Number of blocks for which a job that cannot be read waits. */
const malformedBlocks = 32;

/**
 * Keeps jobs that cannot be read from stopping their lanes. An open is refused, since the API decides what is in it.
 * Any other job was queued by the worker itself, perhaps in a later version, and may be owed, so it waits.
 */
async function setAside(
	db: Database,
	lane: LaneId,
	{
		lease,
		nonce,
		malformed,
		headNumber,
	}: { lease: number; nonce: number; malformed: readonly MalformedJob[]; headNumber: number },
): Promise<void> {
	const outcomes = malformed.map((job): LeasedOutcome => {
		if (job.kind === "open") return { job, change: { refuse: "reverted" } };
		return { job, change: { notBeforeBlock: headNumber + malformedBlocks, failures: 1 } };
	});
	await journalLease(db, lane, { lease, nonce, outcomes, transactions: [] });
}

type TakenRow = JobRow & Row<"lanes", "lease" | "next_nonce"> & { has_more: boolean };
