import { emptyAccountRentLamports, type SwapUuid } from "@geoswap/protocol";
import type { Hex } from "viem";
import { CoSignError, coSignOrder, maximumMicroLamportsPerUnit } from "../chain/solana/co-sign-order.ts";
import { readBlockhash } from "../chain/solana/read-blockhash.ts";
import { readLanded } from "../chain/solana/read-landed.ts";
import { readUnknown } from "../chain/solana/read-unknown.ts";
import { signPayout } from "../chain/solana/sign-payout.ts";
import { signRefund } from "../chain/solana/sign-refund.ts";
import { signRelease } from "../chain/solana/sign-release.ts";
import { signVoid } from "../chain/solana/sign-void.ts";
import { simulateTransaction } from "../chain/solana/simulate-transaction.ts";
import { countLostAttempts } from "../store/count-lost-attempts.ts";
import { type Database, inTransaction } from "../store/database.ts";
import type { ChainHead } from "../store/facts.ts";
import type { Job, JobKind } from "../store/job.ts";
import { markSent, takeSingleJobs } from "../store/jobs.ts";
import {
	adoptLaneTransaction,
	type LaneTransaction,
	lockNonce,
	openLaneTransactions,
} from "../store/lane-transactions.ts";
import type { SignedSolanaOp } from "../store/swap-record.ts";
import { isOwnAccount, judgeSimulation, strikeInSlots } from "./judge-simulation.ts";
import { later } from "./later.ts";
import { mostLamports } from "./most-lamports.ts";
import { planSolanaJobs, type SolanaDraft, type SolanaPlan } from "./plan-solana-jobs.ts";
import type { SolanaLane } from "./solana-lane.ts";
import type { Verdict } from "./verdict.ts";
import type { FeePayerFunds } from "./watch-fee-payer.ts";
import { withoutSignatures } from "./without-signatures.ts";
import { writeVerdicts } from "./write-verdicts.ts";

export type SignedJobs = {
	/** Whether there was anything to do. */
	found: boolean;
	/** Journalled, and still to be broadcast. */
	transactions: LaneTransaction[];
	/** Whose jobs will not be done. */
	refused: SwapUuid[];
};

type Life = { blockhash: string; lastValidBlockHeight: bigint };
type Signed = { hash: Hex; raw: Hex; lastValidHeight: number };
/** The transaction that does the job: ours, or one that is on the chain and has no bytes here. */
type Done = { do: "journal"; kind: JobKind } & Signed;

/**
 * Takes the jobs that go next, looks at what the chain holds and at what each transaction would do, and signs for those
 * that would be done. The jobs stay locked until that is journalled: no other lane can take one of them meanwhile.
 */
export function signSolanaJobs(
	lane: SolanaLane,
	{ head, readFunds }: { head: ChainHead; readFunds: () => Promise<FeePayerFunds> },
): Promise<SignedJobs> {
	const { id, chain, feePayer, policy, pool } = lane;
	return inTransaction(pool, async (db) => {
		const nonce = await lockNonce(db, id);
		// Before the lamports: what lands meanwhile is taken off twice, and not forgotten.
		const open = await openLaneTransactions(db, id);
		const funds = await readFunds();
		const lamports =
			funds.lamports -
			emptyAccountRentLamports -
			open.reduce((sum, { kind }) => sum + mostLamports(kind), 0n);
		const place = { chainId: id.chainId, headNumber: head.number };
		const jobs = await takeSingleJobs(db, {
			...place,
			feePayer: feePayer.address,
			isOpensOnly: lamports < mostLamports("fill"),
			limit: policy.bundleSize,
		});
		if (jobs.length === 0) return { found: false, transactions: [], refused: [] };
		const lost = await countLostAttempts(db, { chainId: id.chainId, jobs });
		const [plans, life] = await Promise.all([
			planSolanaJobs(lane, { jobs, head, lamports }),
			readBlockhash(chain),
		]);
		const outcomes = await Promise.all(
			jobs.map((job, i) =>
				carryOut(lane, {
					...{ job, plan: plans[i] ?? later, lost: lost[i] ?? 0 },
					...{ life, head, isPayerPoor: funds.isPoor },
				}),
			),
		);
		const { transactions, verdicts } = await journal(db, lane, { jobs, outcomes, nonce, head });
		const refused = await writeVerdicts(db, { jobs, verdicts, head });
		return { found: true, transactions, refused };
	});
}

type Attempt = {
	job: Job;
	plan: SolanaPlan;
	/** How many transactions for it never landed. */
	lost: number;
	life: Life;
	head: ChainHead;
	isPayerPoor: boolean;
};

/** One that cannot be carried out keeps no other from it. */
async function carryOut(lane: SolanaLane, attempt: Attempt): Promise<Done | Verdict> {
	try {
		return await tryOut(lane, attempt);
	} catch (err) {
		const { swapId, kind } = attempt.job;
		lane.log.error({ ...lane.id, swapId, kind, err }, "the job is not signed for");
		// Whoever signs refuses orders that are not ours so. Anything else is the chain, which answers better later.
		return err instanceof RangeError ? strikeInSlots(attempt.job) : later;
	}
}

async function tryOut(lane: SolanaLane, attempt: Attempt): Promise<Done | Verdict> {
	const { plan, life } = attempt;
	if (plan.do === "adopt") {
		// It landed, so its blockhash was no younger than this one.
		const lastValidHeight = Number(life.lastValidBlockHeight);
		return { do: "journal", kind: plan.kind, hash: plan.hash, raw: "0x", lastValidHeight };
	}
	if (plan.do !== "sign") return plan;
	return plan.draft.kind === "open" ? open(lane, attempt, plan.draft.job) : decide(lane, attempt, plan.draft);
}

/**
 * The wallet signed for one message, and ours is the same signature each time: whether it was sent before, the chain
 * knows even where this store does not.
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
		log.error({ ...id, swapId: job.swapId, err }, "what the wallet signed is not what its order says");
		return { do: "refuse", reason: "reverted" };
	}
	const done: Done = {
		do: "journal",
		kind: "open",
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
	return simulated(lane, attempt, { do: "journal", kind: draft.kind, hash: signature, raw, lastValidHeight });
}

function sign(
	{ chain: { deployment }, keys, feePayer, policy }: SolanaLane,
	{ life: { blockhash }, lost }: Attempt,
	draft: Exclude<SolanaDraft, { kind: "open" }>,
): Promise<{ signature: Hex; raw: Hex }> {
	const { order } = draft.job;
	// What was lost may have been worth too little to whoever makes blocks.
	let computePrice = BigInt(policy.computePriceMicroLamports) << BigInt(lost);
	if (computePrice > maximumMicroLamportsPerUnit) computePrice = maximumMicroLamportsPerUnit;
	const common = { deployment, keys, feePayer, order, blockhash, computePrice };
	switch (draft.kind) {
		case "fill":
			return signPayout({ ...common, amount: draft.amount, createsAccount: draft.createsAccount });
		case "void":
			return signVoid(common);
		case "release":
			return signRelease(common);
		case "refund":
			return signRefund({ ...common, createsAccount: draft.createsAccount });
	}
}

async function simulated(
	{ id, chain, log }: SolanaLane,
	{ job, isPayerPoor }: Attempt,
	done: Done,
): Promise<Done | Verdict> {
	const simulation = await simulateTransaction(chain, withoutSignatures(done.raw));
	if (simulation.ok) return done;
	const { reason, logs, poorAccount } = simulation;
	const { deployment } = chain;
	const told = { ...id, swapId: job.swapId, kind: job.kind, reason, logs, poorAccount };
	if (isOwnAccount(poorAccount, deployment))
		log.error(told, "escrow or vault has too few lamports: send it more");
	else log.warn(told, "transaction would fail");
	return judgeSimulation(job, simulation, { isPayerPoor, deployment });
}

/** Writes down what is to be sent, each with its job. What is left of the jobs is up to the verdicts. */
async function journal(
	db: Database,
	{ id }: SolanaLane,
	{
		jobs,
		outcomes,
		nonce,
		head,
	}: { jobs: readonly Job[]; outcomes: readonly (Done | Verdict)[]; nonce: number; head: ChainHead },
): Promise<{ transactions: LaneTransaction[]; verdicts: Verdict[] }> {
	const transactions: LaneTransaction[] = [];
	const verdicts: Verdict[] = [];
	for (const [i, job] of jobs.entries()) {
		const outcome = outcomes[i] ?? later;
		if (outcome.do !== "journal") {
			verdicts.push(outcome);
			continue;
		}
		const { kind, hash, raw, lastValidHeight } = outcome;
		const transaction: LaneTransaction = {
			nonce: nonce + i,
			attempt: 0,
			hash,
			raw,
			kind,
			jobs: [{ swapId: job.swapId, kind, orderId: job.orderId }],
			maxFeePerGas: 0n,
			lastValidHeight,
			state: raw === "0x" ? "broadcast" : "signed",
			sentAtBlock: head.number,
		};
		const place = await adoptLaneTransaction(db, id, transaction);
		if (kind === job.kind && place) {
			await markSent(db, [job], place);
			verdicts.push({ do: "send" });
			transactions.push({ ...transaction, nonce: place.nonce });
		} else {
			verdicts.push(decidedOtherwise(job, kind));
		}
	}
	return { transactions, verdicts };
}

/** The order is decided: the swap goes on from there once whoever follows the chain has told it. */
function decidedOtherwise(job: Job, kind: JobKind): Verdict {
	// One that was closed is refunded.
	return job.kind === "fill" && kind === "void" ? { do: "refuse", reason: "too_late" } : later;
}
