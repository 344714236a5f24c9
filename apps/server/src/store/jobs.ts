import { type Order, orderSchema, orderToJson, type SolanaAddress, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import { type Job, type JobKind, type JobPayload, type JobReason, jobPriority } from "./job.ts";
import { deliveryFromJson, deliveryToJson, signedOpFromJson, signedOpToJson } from "./swap-json.ts";

export type NewJob = {
	[Kind in JobKind]: {
		swapId: SwapUuid;
		kind: Kind;
		chainId: number;
		orderId: Hex;
		order: Order;
		payload: JobPayload[Kind];
		state: "queued" | "unattested";
		alone: boolean;
		/** Do it once more where it is done, refused or still unattested: a chain dropped what was done. */
		again?: boolean;
	};
}[JobKind];

/** Queues a job. Does nothing where the swap has one of this kind, unless it is to be done again. */
export async function queueJob(db: Database, job: NewJob): Promise<void> {
	await db.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, alone)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		on conflict (swap_id, kind) do update set payload = excluded.payload, state = excluded.state,
			alone = excluded.alone, strikes = 0, reason = null, attestation_id = null, relayer = null, nonce = null,
			not_before_block = 0, updated_at = now()
		where $10 and jobs.state in ('done', 'refused', 'unattested')`,
		[
			job.swapId,
			job.kind,
			job.chainId,
			hexToBytes(job.orderId),
			orderToJson(job.order),
			payloadToJson(job),
			job.state,
			jobPriority[job.kind],
			job.alone,
			job.again ?? false,
		],
	);
}

/** Which jobs can be in one transaction with the first one. */
export type JobGroup = JobPlace & {
	kind: JobKind;
	/** The field of the order that names the contract which is called, and its value. */
	contract: { field: "escrow" | "destinationVault"; word: Hex } | undefined;
	limit: number;
};

/** Where the lane is. */
export type JobPlace = { chainId: number; headNumber: number };

/**
 * A chain without traffic makes no blocks: there a job has waited long enough by time. By the clock that wrote when it
 * was put back: by one that is ahead of it, it would be taken again at once, for ever.
 */
const isRipe = `chain_id = $1 and state = 'queued'
	and (not_before_block <= $2 or updated_at < now() - interval '30 seconds')`;

/**
 * Solana makes slots without traffic too. What it refused waits for its slot: hundreds of refunds that can never be paid
 * would else be tried all the time.
 */
const isRipeOnSolana = `${isRipe} and (not_before_block <= $2 or strikes = 0)`;

/**
 * The jobs of the list of orders that goes first, all signed for together, and locked until the transaction ends.
 * Undefined where there is no such list, or only such as other lanes hold.
 */
export async function takeAttestedJobs(
	db: Database,
	{ chainId, headNumber, last }: JobPlace & { /** What of it is least urgent. */ last: "release" | "refund" },
): Promise<Job[] | undefined> {
	// The list before its jobs: two lanes that each held some of them would both send all of it.
	const { rows: lists } = await db.query<{ id: string }>(
		`select id from attestations where id = any(array(
			select attestation_id from jobs where ${isRipe} and priority <= $3 and attestation_id is not null
		)) order by kind = 'Release' desc, created_at limit 1 for update skip locked`,
		[chainId, headNumber, jobPriority[last]],
	);
	const [list] = lists;
	if (!list) return undefined;
	const { rows } = await db.query<JobRow>(
		`select * from jobs where ${isRipe} and attestation_id = $3 order by created_at for update skip locked`,
		[chainId, headNumber, list.id],
	);
	// Someone holds them all: other work goes on meanwhile.
	return rows.length > 0 ? rows.map(jobFromRow) : undefined;
}

/** Of the others, the one that goes first, locked likewise. Those that another lane holds are passed over. */
export async function takeFirstJob(
	db: Database,
	{ chainId, headNumber }: JobPlace,
): Promise<Job | undefined> {
	const { rows } = await db.query<JobRow>(
		`select * from jobs where ${isRipe} and attestation_id is null
		order by priority, created_at limit 1 for update skip locked`,
		[chainId, headNumber],
	);
	return rows[0] && jobFromRow(rows[0]);
}

/** Further jobs for the first one's transaction, locked likewise. */
export async function takeMoreJobs(db: Database, group: JobGroup, first: Job): Promise<Job[]> {
	const { rows } = await db.query<JobRow>(
		`select * from jobs where ${isRipe} and kind = $3 and swap_id <> $4 and attestation_id is null
			and not alone and payload->'op'->'authorization' is null
			and ($5::text is null or order_terms->>$5 = $6)
		order by created_at limit $7 for update skip locked`,
		[
			group.chainId,
			group.headNumber,
			group.kind,
			first.swapId,
			group.contract?.field ?? null,
			group.contract?.word ?? null,
			group.limit,
		],
	);
	return rows.map(jobFromRow);
}

/**
 * The jobs that go first, of any kind, for transactions of their own, locked likewise. An op names who pays for it: only
 * that lane can send it, and one that can pay for no more leaves the rest to others. Releases go before all other work.
 * Then what was refused least often: a wallet can see to it that its refunds never succeed, and they must not keep others
 * from theirs.
 */
export async function takeSingleJobs(
	db: Database,
	{
		chainId,
		headNumber,
		feePayer,
		isOpensOnly,
		limit,
	}: JobPlace & { feePayer: SolanaAddress; isOpensOnly: boolean; limit: number },
): Promise<Job[]> {
	const { rows } = await db.query<JobRow>(
		`select * from jobs where ${isRipeOnSolana} and (kind <> 'open' and not $4 or payload->'op'->>'feePayer' = $3)
		order by kind <> 'release', strikes, priority, created_at limit $5 for update skip locked`,
		[chainId, headNumber, feePayer, isOpensOnly, limit],
	);
	return rows.map(jobFromRow);
}

export type JobKey = { swapId: SwapUuid; kind: JobKind };

/** These jobs are in the transaction of that nonce. */
export async function markSent(
	db: Database,
	jobs: readonly JobKey[],
	{ relayer, nonce }: { relayer: Hex; nonce: number },
): Promise<void> {
	await db.query(
		`update jobs set state = 'sent', relayer = $3, nonce = $4, updated_at = now() where ${isListed}`,
		[...keyLists(jobs), hexToBytes(relayer), nonce],
	);
}

export async function refuseJobs(
	db: Database,
	jobs: readonly JobKey[],
	{ reason }: { reason: JobReason },
): Promise<void> {
	await db.query(
		`update jobs set state = 'refused', reason = $3, updated_at = now() where state = 'queued' and ${isListed}`,
		[...keyLists(jobs), reason],
	);
}

/** Puts jobs back: to be tried from a block on, alone where one of a bundle may have spoilt it for the others. */
export async function requeueJobs(
	db: Database,
	jobs: readonly JobKey[],
	{ notBeforeBlock, alone, strikes }: { notBeforeBlock: number; alone: boolean; strikes: 0 | 1 },
): Promise<void> {
	await db.query(
		`update jobs set not_before_block = $3, alone = alone or $4, strikes = strikes + $5, updated_at = now()
		where state = 'queued' and ${isListed}`,
		[...keyLists(jobs), notBeforeBlock, alone, strikes],
	);
}

/** Their list was signed for as a whole and cannot be sent so any more: they need other signatures. */
export async function unattestJobs(db: Database, attestationId: string): Promise<void> {
	await db.query(
		`update jobs set state = 'unattested', attestation_id = null, updated_at = now()
		where state = 'queued' and attestation_id = $1`,
		[attestationId],
	);
}

/** The jobs of a transaction that is lost for good go back to the queue. */
export async function requeueSentJobs(
	db: Database,
	{ chainId, relayer, nonce }: { chainId: number; relayer: Hex; nonce: number },
): Promise<void> {
	await db.query(
		`update jobs set state = 'queued', relayer = null, nonce = null, updated_at = now()
		where chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'`,
		[chainId, hexToBytes(relayer), nonce],
	);
}

/** What a transaction that is lost for good was for, and what cannot be signed for a second time. */
export async function refuseSentJobs(
	db: Database,
	{ chainId, relayer, nonce }: { chainId: number; relayer: Hex; nonce: number },
	{ reason }: { reason: JobReason },
): Promise<void> {
	await db.query(
		`update jobs set state = 'refused', reason = $4, updated_at = now()
		where chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'`,
		[chainId, hexToBytes(relayer), nonce, reason],
	);
}

/** The transaction that has these jobs is given up because of them. They stay with its nonce until that is spent. */
export async function strikeSentJobs(
	db: Database,
	{ chainId, relayer, nonce }: { chainId: number; relayer: Hex; nonce: number },
): Promise<void> {
	await db.query(
		`update jobs set strikes = strikes + 1, alone = true, updated_at = now()
		where chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'`,
		[chainId, hexToBytes(relayer), nonce],
	);
}

export type JobRow = {
	swap_id: string;
	kind: JobKind;
	chain_id: number;
	order_id: Uint8Array;
	order_terms: Parameters<typeof orderSchema.parse>[0];
	payload: PayloadJson;
	state: Job["state"];
	alone: boolean;
	strikes: number;
	reason: JobReason | null;
	attestation_id: string | null;
	relayer: Uint8Array | null;
	nonce: number | null;
};

/** The columns of a JobRow, for prepared statements: one over all there are fails once a later version has added one. */
export const jobColumns =
	"swap_id, kind, chain_id, order_id, order_terms, payload, state, alone, strikes, reason, attestation_id, relayer, nonce";

export function jobFromRow(row: JobRow): Job {
	return {
		swapId: row.swap_id,
		kind: row.kind,
		chainId: row.chain_id,
		orderId: bytesToHex(row.order_id),
		order: orderSchema.parse(row.order_terms),
		payload: payloadFromJson(row),
		state: row.state,
		alone: row.alone,
		strikes: row.strikes,
		reason: row.reason ?? undefined,
		attestationId: row.attestation_id ?? undefined,
		relayer: row.relayer ? bytesToHex(row.relayer) : undefined,
		nonce: row.nonce ?? undefined,
	} as Job;
}

type PayloadJson = {
	op?: Parameters<typeof signedOpFromJson>[0];
	delivery?: Parameters<typeof deliveryFromJson>[0];
	attested?: boolean;
};

function payloadToJson(job: NewJob): PayloadJson {
	if (job.kind === "open") return { op: signedOpToJson(job.payload.op) };
	if (job.kind === "fill") return { delivery: deliveryToJson(job.payload.delivery) };
	return job.payload;
}

function payloadFromJson({ payload }: JobRow): Job["payload"] {
	if (payload.op) return { op: signedOpFromJson(payload.op) };
	if (payload.delivery) return { delivery: deliveryFromJson(payload.delivery) };
	return payload.attested === undefined ? {} : { attested: payload.attested };
}

const isListed = "(swap_id, kind) in (select * from unnest($1::uuid[], $2::text[]))";

function keyLists(jobs: readonly JobKey[]): [string[], string[]] {
	return [jobs.map((job) => job.swapId), jobs.map((job) => job.kind)];
}
