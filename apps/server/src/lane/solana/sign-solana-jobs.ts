import { isRefusedBySigner } from "@geoswap/keys/signer-error";
import { emptyAccountRentLamports, type SolanaDeployment, type SwapUuid, type Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import { signEnding, signVoid } from "../../chain/solana/program/sign-ending.ts";
import { signFill } from "../../chain/solana/program/sign-fill.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import { readBlockhash } from "../../chain/solana/read/read-slots.ts";
import { readUnknown } from "../../chain/solana/read/read-unknown.ts";
import type {
	SignedTransaction,
	SigningParts,
	SolanaKeys,
} from "../../chain/solana/send/sign-instructions.ts";
import { simulateTransaction } from "../../chain/solana/send/simulate-transaction.ts";
import {
	CoSignError,
	coSignOrder,
	maximumMicroLamportsPerUnit,
} from "../../chain/solana/wallet/co-sign-order.ts";
import type { Database } from "../../database/database.ts";
import type { JobKey } from "../../job/jobs.ts";
import {
	endLease,
	type Journalled,
	journalLease,
	type LeasedOutcome,
} from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { PaymentProof } from "../../job/read-payment-facts.ts";
import { takeSingleJobs } from "../../job/take-jobs.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Job } from "../../swap/facts/job.ts";
import type { SignedSolanaOp } from "../../swap/facts/swap-record.ts";
import { checkPayments } from "../check-payments.ts";
import type { LaneView } from "../load-lane-state.ts";
import { logMalformedJobs } from "../log-malformed-jobs.ts";
import { toJobChange, type Verdict } from "../verdict.ts";
import { judgeSimulation, later, verdictOnFailureInSlots } from "./judge-simulation.ts";
import { maxLamports } from "./max-lamports.ts";
import { planSolanaJobs, type SolanaDraft, type SolanaPlan } from "./plan-solana-jobs.ts";
import type { SolanaLane } from "./solana-lane.ts";
import { stripSignatures } from "./strip-signatures.ts";
import type { FeePayerFunds } from "./watch-fee-payer.ts";

export type SignedJobs = {
	/** True if there was anything to do. */
	found: boolean;
	/** Transactions that are journalled and still to be broadcast. */
	transactions: LaneTransaction[];
	/** Swaps whose jobs are refused. */
	refused: SwapUuid[];
	/** True if something changed during signing, so that nothing was journalled and nothing may be sent. */
	isUndone: boolean;
};

type Life = { blockhash: string; lastValidBlockHeight: bigint };
type Signed = { hash: Hex; raw: Hex; lastValidHeight: number };
/** The signed transaction that does the job. */
type Done = { do: "journal" } & Signed;

/**
 * Leases the next jobs, reads the chain, simulates a transaction for each, and signs those that would succeed. No lock
 * is held meanwhile. A transaction is journalled only if nothing that it depends on has changed.
 */
export async function signSolanaJobs(
	lane: SolanaLane,
	{
		head,
		open,
		nextNonce,
		hasWork,
		readFunds,
	}: Pick<LaneView, "head" | "open" | "hasWork"> & {
		/** Read with `open`. Nothing is journalled if the lane has signed for anything else since. */
		nextNonce: number;
		readFunds: () => Promise<FeePayerFunds>;
	},
): Promise<SignedJobs> {
	const { id, feePayer, policy, pool, leaseTime, nowMs, log } = lane;
	// Read after the transactions in flight, so that one that lands in between is subtracted twice rather than left out.
	const funds = await readFunds();
	const lamports =
		funds.lamports - emptyAccountRentLamports - open.reduce((sum, { kind }) => sum + maxLamports(kind), 0n);
	const startMs = nowMs();
	const leased = hasWork
		? await takeSingleJobs(pool, id, {
				headNumber: head.number,
				leaseMs: leaseTime.ms(),
				limit: policy.bundleSize,
				feePayer: feePayer.address,
				isOpensOnly: lamports < maxLamports("fill"),
			})
		: undefined;
	if (!leased) return { found: false, transactions: [], refused: [], isUndone: false };
	logMalformedJobs(lane, leased.malformed);
	const malformed = leased.malformed.map(({ swapId }) => swapId);
	if (leased.jobs.length === 0) return { found: true, transactions: [], refused: malformed, isUndone: true };
	const attempts = await attemptAll(lane, {
		jobs: leased.jobs,
		head,
		lamports,
		isPayerPoor: funds.isPoor,
	}).catch(async (error: unknown) => {
		// Other lanes need not wait until the lease expires.
		await endLease(pool, id, leased).catch(() => {});
		throw error;
	});
	const { outcome, transactions, refused } = await journal(lane, {
		lease: leased.lease,
		nonce: nextNonce,
		attempts,
		head,
	});
	leaseTime.ended({ outcome, tookMs: nowMs() - startMs });
	const isUndone = outcome !== "journalled";
	if (isUndone) {
		const swapIds = leased.jobs.map(({ swapId }) => swapId);
		log.warn({ ...id, lease: leased.lease, outcome, swapIds }, "signed transactions are not sent");
	}
	return { found: true, transactions, refused: [...malformed, ...refused], isUndone };
}

type Attempted = { job: Job; plan: SolanaPlan; outcome: Done | Verdict; proof: PaymentProof | undefined };

async function attemptAll(
	lane: SolanaLane,
	{
		jobs: leased,
		head,
		lamports,
		isPayerPoor,
	}: { jobs: readonly Job[]; head: ChainHead; lamports: Wei; isPayerPoor: boolean },
): Promise<Attempted[]> {
	const { id, chain, pool, payments: rules, deliveryNow, denyList, log, metrics } = lane;
	const [{ jobs, stopped, proofs }, lost] = await Promise.all([
		checkPayments(
			pool,
			{ chainId: id.chainId, deliveryNow, denyList, log, metrics },
			{ jobs: leased, rules, hold: later },
		),
		countLostAttempts(pool, { chainId: id.chainId, jobs: leased }),
	]);
	const [plans, life] = await Promise.all([
		planSolanaJobs(lane, { jobs, stopped, head, lamports }),
		readBlockhash(chain),
	]);
	return Promise.all(
		jobs.map(async (job, i) => {
			const plan = plans[i] ?? later;
			const outcome = await carryOut(lane, { job, plan, lost: lost[i] ?? 0, life, head, isPayerPoor });
			return { job, plan, outcome, proof: proofs.get(job) };
		}),
	);
}

type Attempt = {
	job: Job;
	plan: SolanaPlan;
	/** Number of transactions for the job that never landed. */
	lost: number;
	life: Life;
	head: ChainHead;
	isPayerPoor: boolean;
};

/** Carries out one job's plan. An error does not stop the other jobs. */
async function carryOut(lane: SolanaLane, attempt: Attempt): Promise<Done | Verdict> {
	try {
		return await tryOut(lane, attempt);
	} catch (err) {
		const { swapId, kind } = attempt.job;
		lane.log.error({ ...lane.id, swapId, kind, err }, "the job could not be signed");
		// Signing throws a RangeError for orders of another deployment, and a signer may refuse what it is given. Any other
		// error may be temporary.
		return err instanceof RangeError || isRefusedBySigner(err) ? verdictOnFailureInSlots(attempt.job) : later;
	}
}

async function tryOut(lane: SolanaLane, attempt: Attempt): Promise<Done | Verdict> {
	const { plan } = attempt;
	if (plan.do !== "sign") return plan;
	return plan.draft.kind === "open" ? open(lane, attempt, plan.draft.job) : decide(lane, attempt, plan.draft);
}

/**
 * Co-signs the wallet's transaction. The wallet signed one message, and the fee payer's signature is the same each
 * time, so the chain shows whether it was sent before, even if this store does not.
 */
async function open(lane: SolanaLane, attempt: Attempt, job: Job<"open">): Promise<Done | Verdict> {
	const { id, chain, feePayer, log } = lane;
	const op = solanaOp(job);
	let signed: { signature: Hex; raw: Hex };
	try {
		const { deployment } = chain;
		signed = await coSignOrder({ deployment, order: job.order, op, feePayerKey: feePayer });
	} catch (err) {
		if (!(err instanceof CoSignError)) throw err;
		log.error(
			{ ...id, swapId: job.swapId, err },
			"the transaction that the wallet signed does not match its order",
		);
		return { do: "refuse", reason: "reverted" };
	}
	const done: Done = {
		do: "journal",
		hash: signed.signature,
		raw: signed.raw,
		lastValidHeight: Number(op.lastValidBlockHeight),
	};
	const landed = await readLanded(chain, signed.signature);
	if (landed) return landed.isFailed ? { do: "refuse", reason: "reverted" } : done;
	if (attempt.head.finalizedHeight > done.lastValidHeight) {
		const { finalizedNumber: slot, finalizedHeight: height } = attempt.head;
		const unknown = await readUnknown(chain, [done], { slot, height });
		return unknown.has(done.hash) ? { do: "refuse", reason: "expired" } : later;
	}
	return simulated(lane, attempt, done);
}

function solanaOp({ swapId, payload: { op } }: Job<"open">): SignedSolanaOp {
	if (!("kind" in op)) throw new Error(`swap ${swapId} is not opened on Solana`);
	return op;
}

async function decide(
	lane: SolanaLane,
	attempt: Attempt,
	draft: Exclude<SolanaDraft, { kind: "open" }>,
): Promise<Done | Verdict> {
	const { signature, raw } = await sign(lane, attempt, draft);
	const lastValidHeight = Number(attempt.life.lastValidBlockHeight);
	return simulated(lane, attempt, { do: "journal", hash: signature, raw, lastValidHeight });
}

function sign(
	{ chain: { deployment }, keys, feePayer, policy }: SolanaLane,
	{ life: { blockhash }, lost }: Attempt,
	draft: Exclude<SolanaDraft, { kind: "open" }>,
): Promise<{ signature: Hex; raw: Hex }> {
	// The lost transactions may have paid too little for block producers.
	let computePrice = BigInt(policy.computePriceMicroLamports) << BigInt(lost);
	if (computePrice > maximumMicroLamportsPerUnit) computePrice = maximumMicroLamportsPerUnit;
	return signDraft(draft, { feePayer, blockhash, computePrice, deployment, keys });
}

async function simulated(
	{ id, chain, log }: SolanaLane,
	{ job, isPayerPoor }: Attempt,
	done: Done,
): Promise<Done | Verdict> {
	const simulation = await simulateTransaction(chain, stripSignatures(done.raw));
	if (simulation.ok) return done;
	const { reason, logs, poorAccount } = simulation;
	const { deployment } = chain;
	const told = { ...id, swapId: job.swapId, kind: job.kind, reason, logs, poorAccount };
	if (poorAccount === deployment.program.vault)
		log.error(told, "the vault has too few lamports; send it more");
	else log.warn(told, "transaction would fail");
	return judgeSimulation(job, simulation, { isPayerPoor, deployment });
}

/** Journals the transactions to send, each with its job, and the verdicts on the other jobs. */
async function journal(
	lane: SolanaLane,
	{
		lease,
		nonce,
		attempts,
		head,
	}: { lease: number; nonce: number; attempts: readonly Attempted[]; head: ChainHead },
): Promise<Pick<SignedJobs, "transactions" | "refused"> & Pick<Journalled, "outcome">> {
	const { id, pool } = lane;
	const signed: LaneTransaction[] = [];
	const refused: SwapUuid[] = [];
	const outcomes = attempts.map(({ job, outcome, proof }): LeasedOutcome => {
		if (outcome.do === "refuse") refused.push(job.swapId);
		if (outcome.do !== "journal") return { job, change: toJobChange(outcome, head) };
		const { hash, raw, lastValidHeight } = outcome;
		const { swapId, kind, orderId } = job;
		signed.push({
			nonce: nonce + signed.length,
			attempt: 0,
			hash,
			raw,
			kind,
			jobs: [{ swapId, kind, orderId }],
			maxFeePerGas: 0n,
			lastValidHeight,
			state: "signed",
		});
		return { job, hash, change: toJobChange(later, head), proof };
	});
	const journalled = await journalLease(pool, id, { lease, nonce, outcomes, transactions: signed });
	const { outcome } = journalled;
	const nonces = outcome === "journalled" ? journalled.nonces : new Map<Hex, number>();
	const transactions = signed.flatMap((transaction) => {
		const place = nonces.get(transaction.hash);
		return place === undefined ? [] : [{ ...transaction, nonce: place }];
	});
	return { outcome, refused, transactions };
}

/** Returns, for each of the jobs, how many transactions that were signed for it ended in no block. */
async function countLostAttempts(
	db: Database,
	{ chainId, jobs }: { chainId: number; jobs: readonly JobKey[] },
): Promise<number[]> {
	const { rows } = await db.query<{ lost: number }>(
		`select (
			select count(*)::int from lane_transactions
			where chain_id = $1 and state = 'final' and block_number is null
				and jobs @> jsonb_build_array(jsonb_build_object('swapId', j.swap_id, 'kind', j.kind))
		) as lost
		from unnest($2::uuid[], $3::text[]) with ordinality as j (swap_id, kind, seq) order by seq`,
		[chainId, jobs.map(({ swapId }) => swapId), jobs.map(({ kind }) => kind)],
	);
	return rows.map(({ lost }) => lost);
}

/** Signs the transaction of a job in the program. */
function signDraft(
	draft: Exclude<SolanaDraft, { kind: "open" }>,
	{ keys: { operator }, ...parts }: SigningParts & { deployment: SolanaDeployment; keys: SolanaKeys },
): Promise<SignedTransaction> {
	const { order } = draft.job;
	const common = { ...parts, operator, order };
	switch (draft.kind) {
		case "fill":
			return signFill({ ...common, amount: draft.amount, createsAccount: draft.createsAccount });
		case "void":
			return signVoid(common);
		case "release":
			return signEnding({ ...common, to: "vault", decision: draft.decision });
		case "refund":
			return signEnding({
				...common,
				to: "wallet",
				decision: draft.decision,
				createsAccount: draft.createsAccount,
			});
	}
}
