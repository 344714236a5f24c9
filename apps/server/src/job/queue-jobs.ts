import { isSolana, orderToJson, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import { type JobKind, jobPriority } from "../swap/facts/job.ts";
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

/** Returns whether a job waits for a lane, or is in a transaction in flight. */
export async function hasOpenJobs(db: Database): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>({
		name: "has-open-jobs",
		text: "select exists (select from jobs where state in ('queued', 'sent')) as found",
	});
	return rows[0]?.found ?? false;
}

/** The event that a job of each kind is for. The job is done once the chain has emitted it. */
const doneEvent: Record<JobKind, string> = {
	open: "Opened",
	fill: "Filled",
	void: "Voided",
	release: "Released",
	refund: "Refunded",
};

type OrderEvent = { name: string; orderId: Hex | undefined };

/** Returns the jobs that these events complete, also if a third party sent the transaction. */
export function doneJobs(events: readonly OrderEvent[]): { kind: string; orderId: Hex }[] {
	return Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.flatMap((event) =>
			event.name === name && event.orderId ? [{ kind, orderId: event.orderId }] : [],
		),
	);
}

/**
 * Marks the jobs that these events complete as done, also if a third party sent the transaction. The events need not be
 * final, because if a reorg drops one, `undoJobs` reopens its job. Rows are locked in one order, so that two
 * transactions that lock the same jobs cannot deadlock.
 */
export async function finishJobs(
	db: Database,
	{ chainId, events }: { chainId: number; events: readonly OrderEvent[] },
): Promise<void> {
	const done = doneJobs(events);
	if (done.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id, kind from jobs
			where chain_id = $1 and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))
			order by swap_id, kind for update
		)
		update jobs j set state = 'done', reason = null, lease = null, leased_until = null, updated_at = now()
		from held where (j.swap_id, j.kind) = (held.swap_id, held.kind)`,
		[chainId, done.map((job) => hexToBytes(job.orderId)), done.map((job) => job.kind)],
	);
}

/**
 * Reopens jobs whose event was reorged. The lane broadcasts the transaction again, or, if the job has none, it waits
 * for one. Returns the orders that lost an event.
 */
export async function undoJobs(
	db: Database,
	{ chainId, lost }: { chainId: number; lost: readonly { order_id: Buffer | null; name: string }[] },
): Promise<Hex[]> {
	const events = lost.flatMap(({ order_id, name }) => (order_id ? [{ orderId: order_id, name }] : []));
	const undone = Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.filter((event) => event.name === name).map(({ orderId }) => ({ kind, orderId })),
	);
	await db.query(
		`with held as materialized (
			select swap_id, kind from jobs
			where chain_id = $1 and state = 'done' and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))
			order by swap_id, kind for update
		)
		update jobs j set updated_at = now(), state = case
			when exists (select from lane_transactions t
				where t.chain_id = j.chain_id and t.relayer = j.relayer and t.nonce = j.nonce and t.state <> 'final')
			then 'sent'
			when $4 and (j.kind = 'release' or (j.kind = 'refund' and (payload->>'attested')::boolean)) then 'unattested'
			else 'queued' end
		from held where (j.swap_id, j.kind) = (held.swap_id, held.kind)`,
		[chainId, undone.map((job) => job.orderId), undone.map((job) => job.kind), !isSolana(chainId)],
	);
	return [...new Set(events.map(({ orderId }) => bytesToHex(orderId)))];
}
