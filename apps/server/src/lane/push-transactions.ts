import { keccak256, parseTransaction } from "viem";
import { sendRaw } from "../chain/evm/send-raw.ts";
import { inTransaction } from "../store/database.ts";
import type { ChainHead } from "../store/facts.ts";
import { requeueSentJobs } from "../store/jobs.ts";
import {
	endLaneTransaction,
	insertLaneTransaction,
	jobsOfNonce,
	type LaneTransaction,
	lockNonce,
	markBroadcast,
	openLaneTransactions,
} from "../store/lane-transactions.ts";
import type { Lane } from "./lane.ts";
import { lateReason } from "./late-reason.ts";
import { freshFees, replacementFees } from "./transaction-fees.ts";

/**
 * Sends what was signed and perhaps never sent, and what has waited too long. Returns how many transactions are under
 * way, or undefined where the chain does not take one of them: those after it would only pile up.
 */
export async function pushTransactions(lane: Lane, head: ChainHead): Promise<number | undefined> {
	const open = await openLaneTransactions(lane.pool, lane.id);
	const priorityFee = BigInt(lane.policy.priorityFeeWei);
	const isStuck = ({ state, sentAtBlock }: LaneTransaction) =>
		state === "broadcast" && head.number - sentAtBlock >= lane.policy.replaceAfterBlocks;
	const spent = open.some(isStuck) ? await readSpentNonces(lane, head) : undefined;
	let underWay = 0;
	for (const transaction of open) {
		let next = transaction;
		if (spent && isStuck(transaction)) {
			if (transaction.nonce < spent.finally) {
				// No attempt of ours was in a final block that the follower has seen.
				await giveUp(lane, transaction);
				continue;
			}
			// It is in a block that the follower has yet to see.
			if (transaction.nonce < spent.byNow) continue;
			// One behind a stuck one is not itself stuck, unless its fee is too low by now.
			const isFront = transaction.nonce === spent.byNow;
			const isUnderpriced = transaction.maxFeePerGas < head.baseFee + priorityFee;
			if (isFront || isUnderpriced) next = await replace(lane, { transaction, head });
		} else if (transaction.state === "broadcast") {
			underWay++;
			continue;
		}
		if (!(await broadcast(lane, { transaction: next, head }))) return undefined;
		underWay++;
	}
	return underWay;
}

/** Offers the transaction to the chain. False where the chain does not take it. */
export async function broadcast(
	{ id, chain, pool, log }: Lane,
	{ transaction, head }: { transaction: LaneTransaction; head: ChainHead },
): Promise<boolean> {
	const { nonce, attempt, hash, kind, jobs } = transaction;
	const about = { ...id, nonce, attempt, hash, kind, swapIds: jobs.map((job) => job.swapId) };
	try {
		const outcome = await sendRaw(chain, transaction.raw);
		log.info({ ...about, outcome }, "transaction sent");
	} catch (err) {
		log.error({ ...about, err }, "the chain does not take the transaction");
		return false;
	}
	await markBroadcast(pool, id, { nonce, attempt, atBlock: head.number });
	return true;
}

/** How many nonces are spent in final blocks that the follower has seen, and how many in any block. */
async function readSpentNonces(
	{ chain: { client }, id: { relayer: address } }: Lane,
	{ finalizedNumber }: ChainHead,
): Promise<{ finally: number; byNow: number }> {
	const [finallySpent, byNow] = await Promise.all([
		client.getTransactionCount({ address, blockNumber: BigInt(finalizedNumber) }),
		client.getTransactionCount({ address }),
	]);
	return { finally: finallySpent, byNow };
}

async function giveUp({ pool, id, log }: Lane, { nonce, hash }: LaneTransaction): Promise<void> {
	await inTransaction(pool, async (db) => {
		await lockNonce(db, id);
		// Read again: the follower may have found it in a block just now.
		const open = await openLaneTransactions(db, id);
		if (!open.some((transaction) => transaction.nonce === nonce)) return;
		await requeueSentJobs(db, { ...id, nonce });
		await endLaneTransaction(db, id, nonce);
		log.error({ ...id, nonce, hash }, "nonce was spent by another transaction");
	});
}

/** Signs the same call again for a higher fee, or nothing at all where its jobs must not or need not be done now. */
async function replace(
	lane: Lane,
	{ transaction, head }: { transaction: LaneTransaction; head: ChainHead },
): Promise<LaneTransaction> {
	const { id, account, policy, pool, nowMs } = lane;
	// Without its signature: what is signed would else include it.
	const { r: _, s: __, v: ___, yParity: ____, ...before } = parseTransaction(transaction.raw);
	const fees = replacementFees(
		{ maxFeePerGas: transaction.maxFeePerGas, maxPriorityFeePerGas: before.maxPriorityFeePerGas ?? 0n },
		freshFees({ baseFee: head.baseFee, priorityFee: BigInt(policy.priorityFeeWei) }),
	);
	if (!fees) return transaction;
	return inTransaction(pool, async (db) => {
		await lockNonce(db, id);
		const jobs = await jobsOfNonce(db, id, transaction.nonce);
		const clock = { head, finalitySeconds: policy.finalitySeconds, nowMs: nowMs() };
		const isCancelled =
			transaction.kind === "cancel" || jobs.length === 0 || jobs.some((job) => lateReason(job, clock));
		const nothing = { chainId: id.chainId, to: account.address, gas: 21_000n, type: "eip1559" } as const;
		const raw = await account.signTransaction({
			...(isCancelled ? nothing : before),
			nonce: transaction.nonce,
			...fees,
		} as Parameters<typeof account.signTransaction>[0]);
		const replacement: LaneTransaction = {
			...transaction,
			attempt: transaction.attempt + 1,
			hash: keccak256(raw),
			raw,
			kind: isCancelled ? "cancel" : transaction.kind,
			maxFeePerGas: fees.maxFeePerGas,
			state: "signed",
			sentAtBlock: head.number,
		};
		await insertLaneTransaction(db, id, replacement);
		return replacement;
	});
}
