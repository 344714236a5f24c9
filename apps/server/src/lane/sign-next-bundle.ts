import type { SwapUuid } from "@geoswap/protocol";
import { type Hex, keccak256 } from "viem";
import { encodeBundle } from "../chain/evm/encode-bundle.ts";
import { maxTransactionGas, simulateBundle } from "../chain/evm/simulate-bundle.ts";
import { type Database, inTransaction } from "../store/database.ts";
import type { ChainHead } from "../store/facts.ts";
import type { Job } from "../store/job.ts";
import {
	type JobGroup,
	markSent,
	refuseJobs,
	takeAttestedJobs,
	takeFirstJob,
	takeMoreJobs,
	unattestJobs,
} from "../store/jobs.ts";
import { insertLaneTransaction, type LaneTransaction, lockNonce } from "../store/lane-transactions.ts";
import { readAttestedBatch } from "../store/read-attested-batch.ts";
import { bundleGas, opsGas } from "./bundle-gas.ts";
import { evmOp } from "./evm-op.ts";
import { judgeJobs } from "./judge-jobs.ts";
import type { Lane } from "./lane.ts";
import { lateReason } from "./late-reason.ts";
import { type AttestedOrders, type Draft, makeBundle } from "./make-bundle.ts";
import { freshFees } from "./transaction-fees.ts";
import { writeVerdicts } from "./write-verdicts.ts";

export type SignedBundle = {
	/** Whether there was anything to do. */
	found: boolean;
	/** Journalled, and still to be broadcast. */
	transaction?: LaneTransaction;
	/** Whose jobs will not be done. */
	refused: SwapUuid[];
};

/**
 * Takes the jobs that go next, looks at what they would do, and signs one transaction for those that would be done. The
 * jobs stay locked until it is journalled with them: no other lane can take one of them meanwhile.
 */
export function signNextBundle(
	lane: Lane,
	head: ChainHead,
	{ releasesOnly = false }: { releasesOnly?: boolean } = {},
): Promise<SignedBundle> {
	return inTransaction(lane.pool, async (db) => {
		const nonce = await lockNonce(db, lane.id);
		const taken = await takeJobs(db, lane, { head, releasesOnly });
		if (!taken) return { found: false, refused: [] };
		const [first] = taken;
		if (!first) return { found: true, refused: [] };

		const refused = await refuseLate(db, lane, { jobs: taken, head });
		const jobs = taken.filter((job) => !refused.includes(job.swapId));
		if (jobs.length === 0) return { found: true, refused };

		let attested: AttestedOrders | undefined;
		if (first.attestationId !== undefined) {
			attested = await readAttestedBatch(db, { attestationId: first.attestationId, kind: first.kind });
			if (!attested) {
				await unattestJobs(db, first.attestationId);
				return { found: true, refused };
			}
		}
		const draft = await makeBundle(lane, jobs, attested);
		const simulation = await simulateBundle(lane.chain, {
			from: lane.account.address,
			...encodeBundle(draft.bundle),
			authorizationList: draft.authorizationList,
		});
		const verdicts = judgeJobs(jobs, simulation);
		if (!simulation.succeeds) {
			lane.log.warn(
				{ ...lane.id, kind: first.kind, swapIds: jobs.map((job) => job.swapId), reason: simulation.reason },
				"bundle would revert",
			);
		}
		refused.push(...(await writeVerdicts(db, { jobs, verdicts, head })));
		if (!simulation.succeeds && first.attestationId !== undefined)
			await unattestJobs(db, first.attestationId);
		let sending = jobs.filter((_, i) => verdicts[i]?.do === "send");
		if (!simulation.succeeds || sending.length === 0) return { found: true, refused };

		let gas = bundleGas(sending, simulation);
		if (gas > maxTransactionGas) {
			// Those at the front do the same without the rest.
			if (!attested) sending = sending.slice(0, Math.ceil(sending.length / 2));
			gas = maxTransactionGas;
		}
		const transaction = await sign(lane, {
			draft: sending.length === jobs.length ? draft : await makeBundle(lane, sending, attested),
			jobs: sending,
			gas,
			nonce,
			head,
		});
		await markSent(db, sending, { relayer: lane.id.relayer, nonce });
		await insertLaneTransaction(db, lane.id, transaction);
		return { found: true, transaction, refused };
	});
}

/** Undefined where there is nothing to do; no job at all where another lane was faster. */
async function takeJobs(
	db: Database,
	{ id, policy }: Lane,
	{ head, releasesOnly }: { head: ChainHead; releasesOnly: boolean },
): Promise<Job[] | undefined> {
	const place = { chainId: id.chainId, headNumber: head.number };
	// A list that was signed for as a whole is sent as a whole; nothing is more urgent.
	const attested = await takeAttestedJobs(db, { ...place, last: releasesOnly ? "release" : "refund" });
	if (attested || releasesOnly) return attested;
	const first = await takeFirstJob(db, place);
	if (!first || travelsAlone(first)) return first && [first];
	const group: JobGroup = {
		...place,
		kind: first.kind,
		contract: contractOf(first),
		limit: policy.bundleSize - 1,
	};
	const jobs = [first, ...(await takeMoreJobs(db, group, first))];
	if (first.kind !== "open") return jobs;
	const fitting = jobs.filter((_, i) => opsGas(jobs.slice(0, i + 1)) <= maxTransactionGas);
	return fitting.length > 0 ? fitting : [first];
}

function travelsAlone(job: Job): boolean {
	if (job.alone || job.kind === "refund") return true;
	return job.kind === "open" && evmOp(job).authorization !== undefined;
}

function contractOf({ kind, order }: Job): JobGroup["contract"] {
	// Ops of all escrows go through the one EntryPoint.
	if (kind !== "fill" && kind !== "void") return undefined;
	return { field: "destinationVault", word: order.destinationVault };
}

async function refuseLate(
	db: Database,
	{ policy, nowMs }: Lane,
	{ jobs, head }: { jobs: readonly Job[]; head: ChainHead },
): Promise<SwapUuid[]> {
	const refused: SwapUuid[] = [];
	for (const job of jobs) {
		const reason = lateReason(job, { head, finalitySeconds: policy.finalitySeconds, nowMs: nowMs() });
		if (!reason) continue;
		await refuseJobs(db, [job], { reason });
		refused.push(job.swapId);
	}
	return refused;
}

async function sign(
	{ id, account, policy }: Lane,
	{
		draft,
		jobs,
		gas,
		nonce,
		head,
	}: { draft: Draft; jobs: Job[]; gas: bigint; nonce: number; head: ChainHead },
): Promise<LaneTransaction> {
	const fees = freshFees({ baseFee: head.baseFee, priorityFee: BigInt(policy.priorityFeeWei) });
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
		sentAtBlock: head.number,
	};
}
