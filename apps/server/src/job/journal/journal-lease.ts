import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { markListed } from "../../swap/due/mark-swaps.ts";
import type { Job, JobReason } from "../../swap/facts/job.ts";
import type { JobKey } from "../jobs.ts";
import { type PaymentProof, proofColumns, selectChangedFacts } from "../read-payment-facts.ts";
import {
	adoptKnown,
	type LaneId,
	type LaneTransaction,
	transactionColumnNames,
	transactionColumns,
	unnestTransactions,
} from "./lane-transactions.ts";

/** A change to a leased job that is in no transaction. If it is empty, the job is queued again as it was. */
export type JobChange = {
	refuse?: JobReason;
	/** The block before which it is not tried again. */
	notBeforeBlock?: number;
	/** True if it is sent alone from now on. */
	alone?: boolean;
	failures?: 0 | 1;
};

/** A leased job with its signed transaction, or with a change if it has none. */
export type LeasedOutcome = {
	/** Applied if the job is in no transaction. */
	change: JobChange;
} & (
	| {
			job: Job;
			/** The job's signed transaction; absent if it has none. */
			hash?: Hex | undefined;
			/** The proof of the facts that justified the payment when it was checked. */
			proof?: PaymentProof | undefined;
	  }
	| { job: JobKey; hash?: undefined; proof?: undefined }
);

export type Journalled =
	/** The signed transactions are journalled and may be sent: those with these hashes, each under its nonce. */
	| { outcome: "journalled"; nonces: Map<Hex, number> }
	/** A job or its justification changed, or another run used the nonce. Nothing may be sent. The lease has ended. */
	| { outcome: "changed" }
	/** The lease was over. Nothing is journalled, and nothing may be sent. */
	| { outcome: "lost" };

/**
 * Ends a lease, in one statement: journals the signed transactions before any is sent, marks their jobs as sent, and
 * changes the other jobs. Makes the swaps of refused jobs due.
 *
 * Journals all transactions or none. It does so if the lease has neither ended nor been taken over, each of its jobs is
 * unchanged, the facts that justified each payment still hold, and the transactions were signed with the lane's next
 * nonce. The row of the lane is locked for that, so two runs of one lane never journal the same nonce.
 */
export async function journalLease(
	db: Database,
	lane: LaneId,
	{
		lease,
		nonce,
		outcomes,
		transactions,
	}: {
		lease: number;
		/** The lane's next nonce at the time of signing. The first transaction has it, the next ones follow. */
		nonce: number;
		outcomes: readonly LeasedOutcome[];
		transactions: readonly LaneTransaction[];
	},
): Promise<Journalled> {
	const proven = outcomes.flatMap((outcome) =>
		outcome.hash && outcome.proof ? [{ job: outcome.job, proof: outcome.proof }] : [],
	);
	const mayRefuse = outcomes.some(({ change }) => change.refuse);
	const { rows } = await db.query<{
		is_held: boolean;
		is_fit: boolean;
		hash: Uint8Array | null;
		nonce: number;
	}>(
		namedParameters(
			`with lane as materialized (
				select next_nonce from lanes where chain_id = $chainId and relayer = $relayer for update
			), change as materialized (
				select * from unnest($leasedSwapIds::uuid[], $leasedKinds::text[], $signedHashes::bytea[], $refusals::text[],
					$notBeforeBlocks::bigint[], $isAlone::boolean[], $failures::int[])
					as change (swap_id, kind, hash, reason, not_before_block, alone, failures)
			), held as materialized (
				select jobs.swap_id, jobs.kind from jobs join lane on true
				where jobs.chain_id = $chainId and jobs.relayer = $relayer and jobs.lease = $lease and jobs.state = 'queued'
					and jobs.leased_until > now() and swap_id = any($leasedSwapIds::uuid[])
				order by swap_id, kind for update of jobs
			), fit as materialized (
				select from lane where next_nonce = $nonce
					and not exists (select from change where hash is not null
						and (swap_id, kind) not in (select swap_id, kind from held))
					${proven.length > 0 ? `and not exists (${selectChangedFacts})` : ""}
			), journalled as (
				insert into lane_transactions as known (${transactionColumnNames})
				select $chainId, $relayer, t.* from ${unnestTransactions} as t where exists (select from fit)
				${adoptKnown} returning relayer, nonce, hash, state
			), spent as (
				update lanes set next_nonce = $nonce + cardinality($nonces::bigint[])
				where chain_id = $chainId and relayer = $relayer and exists (select from fit)
					and cardinality($nonces::bigint[]) > 0
			), marked as (
				update jobs set lease = null, leased_until = null,
					relayer = sent.relayer, nonce = sent.nonce,
					state = case when sent.hash is not null then 'sent' when is_kept then 'queued'
						when change.reason is not null then 'refused' else 'queued' end,
					reason = case when sent.hash is null and not is_kept then change.reason end,
					not_before_block = case when sent.hash is not null or is_kept then jobs.not_before_block
						else coalesce(change.not_before_block, jobs.not_before_block) end,
					alone = jobs.alone or (sent.hash is null and not is_kept and change.alone),
					failures = jobs.failures + case when sent.hash is null and not is_kept then change.failures else 0 end,
					updated_at = case when sent.hash is null and (is_kept or change.is_empty) then jobs.updated_at else now() end
				from (
					select change.*, change.hash is not null and not exists (select from fit) as is_kept,
						reason is null and not_before_block is null and not alone and failures = 0 as is_empty
					from change join held using (swap_id, kind)
				) change
				left join journalled sent on sent.hash = change.hash and sent.state not in ('mined', 'final')
				where jobs.swap_id = change.swap_id and jobs.kind = change.kind
				returning jobs.swap_id, jobs.state
			)${mayRefuse ? `, ${markListed("select swap_id from marked where state = 'refused'")}` : ""}
			select exists (select from held) or cardinality($leasedSwapIds::uuid[]) = 0 as is_held,
				exists (select from fit) as is_fit, journalled.hash, journalled.nonce
			from (select) one left join journalled on journalled.state not in ('mined', 'final')`,
			{
				chainId: lane.chainId,
				relayer: hexToBytes(lane.relayer),
				lease,
				leasedSwapIds: outcomes.map(({ job }) => job.swapId),
				leasedKinds: outcomes.map(({ job }) => job.kind),
				signedHashes: outcomes.map(({ hash }) => (hash ? hexToBytes(hash) : null)),
				refusals: outcomes.map(({ change }) => change.refuse ?? null),
				notBeforeBlocks: outcomes.map(({ change }) => change.notBeforeBlock ?? null),
				isAlone: outcomes.map(({ change }) => change.alone ?? false),
				failures: outcomes.map(({ change }) => change.failures ?? 0),
				nonce,
				...transactionColumns(transactions),
				...(proven.length > 0 ? proofColumns(proven) : {}),
			},
		),
	);
	const [first] = rows;
	if (first?.is_fit) {
		const nonces = new Map(
			rows.flatMap((row): [Hex, number][] => (row.hash ? [[bytesToHex(row.hash), row.nonce]] : [])),
		);
		return { outcome: "journalled", nonces };
	}
	return { outcome: first?.is_held ? "changed" : "lost" };
}

/** Ends a lease without any outcome, so that others can take its jobs immediately. */
export async function endLease(
	db: Database,
	{ chainId, relayer }: LaneId,
	{ lease, jobs }: { lease: number; jobs: readonly Job[] },
): Promise<void> {
	await db.query(
		`update jobs set relayer = null, lease = null, leased_until = null
		where chain_id = $1 and relayer = $2 and lease = $3 and state = 'queued' and swap_id = any($4)`,
		[chainId, hexToBytes(relayer), lease, jobs.map(({ swapId }) => swapId)],
	);
}
