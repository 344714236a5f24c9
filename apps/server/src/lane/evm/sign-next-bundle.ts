import { isDeferredBySigner, isRefusedBySigner, type SignerError } from "@geoswap/keys/signer-error";
import { encodeBundle, fromWord, type SwapUuid } from "@geoswap/protocol";
import { type Hex, keccak256 } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { maxTransactionGas, simulateBundle } from "../../chain/evm/send/simulate-bundle.ts";
import { unattestJobs } from "../../job/jobs.ts";
import { endLease, journalLease, type LeasedOutcome } from "../../job/journal/journal-lease.ts";
import { type LaneTransaction, raiseNonce } from "../../job/journal/lane-transactions.ts";
import type { PaymentProof } from "../../job/read-payment-facts.ts";
import { type LeasedJobs, takeBundle } from "../../job/take-jobs.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Job } from "../../swap/facts/job.ts";
import { checkPayments } from "../check-payments.ts";
import { logMalformedJobs } from "../log-malformed-jobs.ts";
import { lateReason, toJobChange, type Verdict, verdictOnFailure } from "../verdict.ts";
import { bundleGas, opensGas } from "./bundle-gas.ts";
import { openingOf } from "./evm-op.ts";
import { judgeJobs } from "./judge-jobs.ts";
import type { Lane } from "./lane.ts";
import { type AttestedOrders, type Draft, makeBundle, readAttestedBatch } from "./make-bundle.ts";
import { freshFees } from "./transaction-fees.ts";

export type SignedBundle = {
	/** True if there is more to do. */
	hasMore: boolean;
	/** The transaction, which is journalled and still to be broadcast. */
	transaction?: LaneTransaction | undefined;
	/** Swaps whose jobs are refused. */
	refused: SwapUuid[];
	/** True if something changed during signing, so that nothing was journalled and nothing may be sent. */
	isUndone: boolean;
};

/**
 * Leases the next jobs, simulates them, and signs one transaction for those that would succeed. No lock is held
 * meanwhile. The transaction is journalled only if nothing that it depends on has changed.
 */
export async function signNextBundle(
	lane: Lane,
	head: ChainHead,
	{ releasesOnly = false }: { releasesOnly?: boolean } = {},
): Promise<SignedBundle> {
	const { pool, id, policy, leaseTime, nowMs, log } = lane;
	const startMs = nowMs();
	const leased = await takeBundle(pool, id, {
		headNumber: head.number,
		leaseMs: leaseTime.ms(),
		limit: policy.bundleSize,
		releasesOnly,
	});
	if (!leased) return { hasMore: false, refused: [], isUndone: false };
	const { lease, nonce, jobs, malformed } = leased;
	logMalformedJobs(lane, malformed);
	if (jobs.length === 0) return { hasMore: true, refused: swapIdsOf(malformed), isUndone: false };
	const plan = await planBundle(lane, { leased, head }).catch(async (error: unknown): Promise<BundlePlan> => {
		const verdicts =
			isRefusedBySigner(error) || isDeferredBySigner(error)
				? judgeUnsigned(lane, jobs, error)
				: refuseUnmakable(lane, jobs);
		if (verdicts.size > 0) return { verdicts, proofs: new Map() };
		// Other lanes need not wait until the lease expires.
		await endLease(pool, id, leased).catch(() => {});
		throw error;
	});
	const { transaction, verdicts, proofs, spentList } = plan;
	const outcomes = jobs.map((job): LeasedOutcome => {
		const verdict = verdicts.get(job.swapId) ?? { do: "leave" };
		if (verdict.do !== "send" || !transaction) return { job, change: toJobChange(verdict, head) };
		return { job, hash: transaction.hash, change: {}, proof: proofs.get(job.swapId) };
	});
	const transactions = transaction ? [transaction] : [];
	const { outcome } = await journalLease(pool, id, { lease, nonce, outcomes, transactions });
	leaseTime.ended({ outcome, tookMs: nowMs() - startMs });
	if (spentList !== undefined) await unattestJobs(pool, spentList);
	const isUndone = outcome === "lost" || (outcome === "changed" && transaction !== undefined);
	if (isUndone)
		log.warn({ ...id, lease, outcome, swapIds: swapIdsOf(jobs) }, "signed transactions are not sent");
	const isAllSent = !isUndone && transaction?.jobs.length === jobs.length;
	return {
		hasMore: leased.hasMore || !isAllSent,
		transaction: isUndone ? undefined : transaction,
		refused: swapIdsOf([...malformed, ...jobs.filter(({ swapId }) => verdicts.get(swapId)?.do === "refuse")]),
		isUndone,
	};
}

type BundlePlan = {
	verdicts: Map<SwapUuid, Verdict>;
	/** The transaction for all jobs whose verdict is to send them. */
	transaction?: LaneTransaction;
	proofs: Map<SwapUuid, PaymentProof>;
	/** The id of the attestation that cannot be used any more. */
	spentList?: string;
};

/**
 * Refuses the opens that fit no transaction, regardless of the chain's state, because their ops are for another chain,
 * or their orders name something that is not an address here. One of them would keep all others from being signed.
 */
function refuseUnmakable({ id, log }: Lane, jobs: readonly Job[]): Map<SwapUuid, Verdict> {
	const verdicts = new Map<SwapUuid, Verdict>();
	for (const job of jobs) {
		if (job.kind !== "open") continue;
		try {
			encodeBundle({ kind: "open", escrow: fromWord(job.order.escrow), openings: [openingOf(job)] });
		} catch (err) {
			log.error(
				{ ...id, swapId: job.swapId, err },
				"the op cannot be encoded in a transaction; it is refused",
			);
			verdicts.set(job.swapId, { do: "refuse", reason: "reverted" });
		}
	}
	return verdicts;
}

/**
 * Judges the jobs of a transaction that the signer does not sign. A single job counts a failure, or waits if the signer
 * may sign it later. Several are sent alone, so that only the one that the signer does not sign is held up. Orders that
 * attesters signed as a list stay together.
 */
function judgeUnsigned({ id, log }: Lane, jobs: readonly Job[], error: SignerError): Map<SwapUuid, Verdict> {
	const about = { ...id, swapIds: swapIdsOf(jobs), err: error };
	if (error.isDeferred) log.warn(about, "the signer does not sign the transaction for now");
	else log.error(about, "the signer refused the transaction");
	const isWhole = jobs.length === 1 || jobs[0]?.attestationId !== undefined;
	const judge = error.isDeferred ? () => deferred : verdictOnFailure;
	return new Map(jobs.map((job) => [job.swapId, isWhole ? judge(job) : apart]));
}

/** Returns a verdict on each job, and a signed transaction for those that would succeed. A bundle is of one kind. */
async function planBundle(
	lane: Lane,
	{ leased, head }: { leased: LeasedJobs; head: ChainHead },
): Promise<BundlePlan> {
	const verdicts = new Map<SwapUuid, Verdict>();
	const judge = (job: Job, verdict: Verdict) => verdicts.set(job.swapId, verdict);
	const inTime = fitting(leased.jobs).filter((job) => {
		const { finalitySeconds } = lane.policy;
		const reason = lateReason(job, { head, finalitySeconds, nowMs: lane.nowMs() });
		if (reason) judge(job, { do: "refuse", reason });
		return !reason;
	});
	const { jobs, stopped, proofs } = await stopPayments(lane, inTime);
	for (const [job, verdict] of stopped) judge(job, verdict);
	const [first] = jobs;
	if (!first) return { verdicts, proofs };

	const { attestationId } = first;
	let attested: AttestedOrders | undefined;
	if (attestationId !== undefined) {
		attested = await readAttestedBatch(lane.pool, { attestationId, kind: first.kind });
		if (!attested) return { verdicts, proofs, spentList: attestationId };
	}
	const draft = await makeBundle(lane, jobs, attested);
	const call = encodeBundle(draft.bundle);
	const [simulation, extraGas] = await Promise.all([
		simulateBundle(lane.chain, {
			from: lane.account.address,
			orders: jobs,
			...draft,
		}),
		feeModelOf(lane.chain.deployment).readExtraGas(lane.chain, call),
	]);
	for (const [i, verdict] of judgeJobs(jobs, simulation).entries()) {
		const job = jobs[i];
		if (job) judge(job, verdict);
	}
	if (!simulation.succeeds) {
		lane.log.warn(
			{ ...lane.id, kind: first.kind, swapIds: swapIdsOf(jobs), reason: simulation.reason },
			"bundle would revert",
		);
		return { verdicts, proofs, ...(attestationId !== undefined && { spentList: attestationId }) };
	}
	const sending = jobs.filter(({ swapId }) => verdicts.get(swapId)?.do === "send");
	if (sending.length === 0) return { verdicts, proofs };

	let gas = bundleGas(sending, simulation);
	if (gas > maxTransactionGas) {
		// The first half of the jobs succeeds without the rest too.
		if (!attested) {
			const rest = sending.splice(Math.ceil(sending.length / 2));
			for (const job of rest) judge(job, { do: "leave" });
		}
		gas = maxTransactionGas;
	}
	const transaction = await sign(lane, {
		draft: sending.length === jobs.length ? draft : await makeBundle(lane, sending, attested),
		jobs: sending,
		// Gas that pays for the data does not count against the chain's limit.
		gas: gas + extraGas,
		nonce: leased.nonce,
		head,
	});
	return { verdicts, proofs, transaction };
}

/** The verdict on a job of several that the signer does not sign together. */
const apart: Verdict = { do: "postpone", blocks: 0, alone: true };

/**
 * The verdict on a payment that no key may sign for now. It must not stay at the front of the queue, because all other
 * work of the chain would wait behind it.
 */
const deferred: Verdict = { do: "postpone", blocks: 3, alone: true };

/** Returns the opens, from the first one on, whose gas limits fit into one transaction. */
function fitting(jobs: Job[]): Job[] {
	if (jobs[0]?.kind !== "open") return jobs;
	return jobs.filter((_, i) => i === 0 || opensGas(jobs.slice(0, i + 1)) <= maxTransactionGas);
}

const nextBlock: Extract<Verdict, { do: "postpone" }> = { do: "postpone", blocks: 1 };

function swapIdsOf(jobs: readonly Pick<Job, "swapId">[]): SwapUuid[] {
	return jobs.map((job) => job.swapId);
}

/** Returns the jobs that may be signed, each fill with its current payout and its proof; and those that may not. */
async function stopPayments(
	{ pool, id: { chainId }, chain, payments, deliveryNow, denyList, log, metrics }: Lane,
	jobs: Job[],
): Promise<{ jobs: Job[]; stopped: Map<Job, Verdict>; proofs: Map<SwapUuid, PaymentProof> }> {
	// Escrows check refunds themselves.
	if (jobs[0]?.kind !== "fill") return { jobs, stopped: new Map(), proofs: new Map() };
	const { settlementToken } = chain.deployment;
	const { stopped, ...checked } = await checkPayments(
		pool,
		{ chainId, deliveryNow, denyList, log, metrics },
		{ jobs, rules: { ...payments, settlementToken }, hold: nextBlock },
	);
	const proofs = new Map([...checked.proofs].map(([{ swapId }, proof]) => [swapId, proof]));
	return { jobs: checked.jobs.filter((job) => !stopped.has(job)), stopped, proofs };
}

async function sign(
	lane: Lane,
	{
		draft,
		jobs,
		gas,
		nonce,
		head,
	}: { draft: Draft; jobs: Job[]; gas: bigint; nonce: number; head: ChainHead },
): Promise<LaneTransaction> {
	const { id, account } = lane;
	const fees = freshFees(lane, head);
	const transaction = { chainId: id.chainId, nonce, gas, ...fees, ...encodeBundle(draft.bundle) };
	const { authorizationList } = draft;
	const raw: Hex = await account.signTransaction(
		authorizationList
			? { ...transaction, type: "eip7702", authorizationList }
			: { ...transaction, type: "eip1559" },
	);
	const [first] = jobs;
	return {
		nonce,
		attempt: 0,
		hash: keccak256(raw),
		raw,
		kind: first?.kind ?? "cancel",
		jobs: jobs.map(({ swapId, kind, orderId }) => ({ swapId, kind, orderId })),
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
	};
}

/**
 * Raises the lane's nonce to the chain's, so that the lane signs with no spent nonce. The store may be behind the chain
 * if it was restored, or replaced by a replica that lacked the last transactions.
 */
export async function catchUpNonce({ pool, id, chain }: Pick<Lane, "pool" | "id" | "chain">): Promise<void> {
	await raiseNonce(pool, id, await chain.client.getTransactionCount({ address: id.relayer }));
}
