import { orderToJson, type SwapUuid } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import { jobPriority } from "../swap/facts/job.ts";
import { type JobKey, type NewJob, payloadToJson } from "./jobs.ts";

/**
 * Locks the jobs of some swaps, then the waits of some, until the transaction ends. Used by a round that locks
 * inventory or exposures before it writes them. Each table is locked in one order.
 */
export async function lockJobsAndWaits(
	db: Database,
	{ jobsOf, waitsOf }: { jobsOf: readonly SwapUuid[]; waitsOf: readonly SwapUuid[] },
): Promise<void> {
	if (jobsOf.length + waitsOf.length === 0) return;
	await db.query({
		name: "lock-jobs-and-waits",
		// The count makes PostgreSQL take all jobs before it takes the first wait.
		text: `with jobs_held as materialized (
				select from jobs where swap_id = any($1::uuid[]) order by swap_id, kind for update
			)
			select from waits where swap_id = any($2::uuid[]) and (select count(*) from jobs_held) >= 0
			order by swap_id for update`,
		values: [jobsOf, waitsOf],
	});
}

/** A job to be queued, and the turn of its account. */
export type QueuedJob = { job: NewJob; turn: number };

/** Queues jobs. Does nothing if the swap has one of the kind, unless it is to be done again. */
export async function queueJobs(db: Database, jobs: readonly QueuedJob[]): Promise<void> {
	await insertJobs(
		db,
		jobs.filter(({ job }) => !job.again),
		"do nothing",
	);
	await insertJobs(
		db,
		jobs.filter(({ job }) => job.again),
		requeue,
	);
}

async function insertJobs(db: Database, some: readonly QueuedJob[], onConflict: string): Promise<void> {
	if (some.length === 0) return;
	await db.query(
		namedParameters(
			`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, turn)
			select * from unnest($swapIds::uuid[], $kinds::text[], $chainIds::bigint[], $orderIds::bytea[],
				$orderTerms::jsonb[], $payloads::jsonb[], $states::text[], $priorities::smallint[], $turns::bigint[])
			on conflict (swap_id, kind) ${onConflict}`,
			{
				swapIds: some.map(({ job }) => job.swapId),
				kinds: some.map(({ job }) => job.kind),
				chainIds: some.map(({ job }) => job.chainId),
				orderIds: some.map(({ job }) => Buffer.from(hexToBytes(job.orderId))),
				orderTerms: some.map(({ job }) => JSON.stringify(orderToJson(job.order))),
				payloads: some.map(({ job }) => JSON.stringify(payloadToJson(job))),
				states: some.map(({ job }) => job.state),
				priorities: some.map(({ job }) => jobPriority[job.kind]),
				turns: some.map(({ job, turn }) => (job.kind === "open" ? turn : 0)),
			},
		),
	);
}

const requeue = `do update set payload = excluded.payload, state = excluded.state, alone = false, failures = 0,
	reason = null, attestation_id = null, relayer = null, nonce = null, lease = null, leased_until = null, not_before_block = 0, updated_at = now()
	where jobs.state in ('done', 'refused', 'unattested')`;

/** Deletes jobs that are in no transaction, even those that a lane has leased, which then journals nothing for them. */
export async function withdrawJobs(db: Database, keys: readonly JobKey[]): Promise<void> {
	if (keys.length === 0) return;
	await db.query(
		"delete from jobs where state = 'queued' and (swap_id, kind) in (select * from unnest($1::uuid[], $2::text[]))",
		[keys.map(({ swapId }) => swapId), keys.map(({ kind }) => kind)],
	);
}

/** Deletes the jobs, waits and exposures of swaps that have ended. Their jobs and waits must be held. */
export async function dropEnded(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query({
		name: "drop-ended",
		text: `with jobs_gone as (delete from jobs where swap_id = any($1::uuid[])),
				waits_gone as (delete from waits where swap_id = any($1)),
				held as materialized (select swap_id from exposures where swap_id = any($1) order by swap_id for update)
			delete from exposures x using held where x.swap_id = held.swap_id`,
		values: [swapIds],
	});
}
