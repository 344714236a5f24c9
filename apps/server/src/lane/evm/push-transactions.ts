import { SignerError } from "@geoswap/keys/signer-error";
import { type Hex, hexToNumber, keccak256, parseTransaction } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { type SendOutcome, sendRaw } from "../../chain/evm/send/send-raw.ts";
import {
	endLaneTransaction,
	giveBackUnsent,
	insertAttempts,
	jobsOfNonce,
	type LaneTransaction,
	markBroadcast,
	noncesKnown,
	noteRefused,
} from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { LaneView } from "../load-lane-state.ts";
import { traceTransaction } from "../trace-transaction.ts";
import { lateReason } from "../verdict.ts";
import type { Lane } from "./lane.ts";
import { deadlineOf } from "./move-call.ts";
import { isMoveWanted } from "./sign-move.ts";
import { catchUpNonce } from "./sign-next-bundle.ts";
import { firstCancel, signCancel } from "./sign-removal.ts";
import { freshFees, replacementFees } from "./transaction-fees.ts";

/**
 * Sends transactions that were signed and perhaps never sent, and those that have waited too long. Returns how many are
 * in flight, or undefined if the chain does not take one of them, since those after it would only pile up. Also returns
 * whether jobs went back to the queue.
 */
export async function pushTransactions(
	lane: Lane,
	{ open, head }: Pick<LaneView, "open" | "head">,
): Promise<{ underWay: number | undefined; isRequeued: boolean }> {
	const { maxPriorityFeePerGas: tip } = freshFees(lane, head);
	const stuck = findStuck(lane, { open, head });
	const isOverdue = (transaction: LaneTransaction) =>
		transaction.sentAtBlock !== undefined && stuck.includes(transaction);
	const spent = stuck.length > 0 ? await readSpentNonces(lane, { stuck, head }) : undefined;
	let underWay = 0;
	let isRequeued = false;
	const [lowest] = open;
	if (spent && lowest) {
		for (const cancel of await fillNonceGap(lane, { from: spent.byNow, to: lowest.nonce, head })) {
			if ((await broadcast(lane, { transaction: cancel, head, isNew: true })) !== "sent") {
				return { underWay: undefined, isRequeued };
			}
			underWay++;
		}
	}
	for (const transaction of open) {
		let next = transaction;
		const isStuck = spent !== undefined && stuck.includes(transaction);
		if (isStuck && transaction.nonce < spent.finally) {
			// None of our attempts was in a final block that the follower has read.
			if (await endLaneTransaction(lane.pool, lane.id, transaction.nonce)) {
				isRequeued = true;
				const { nonce, hash } = transaction;
				lane.log.error({ ...lane.id, nonce, hash }, "nonce was spent by another transaction");
			}
			continue;
		}
		// The transaction is in a block that the follower has yet to read.
		if (isStuck && transaction.nonce < spent.byNow) continue;
		if (isStuck && transaction.state === "broadcast") {
			// A transaction behind a stuck one is not itself stuck, unless its fee is too low by now.
			const isFront = transaction.nonce === spent.byNow;
			const isUnderpriced = transaction.maxFeePerGas < head.baseFee + tip;
			if (isFront || isUnderpriced) next = await replace(lane, { transaction, head, why: "stuck" });
		} else if (transaction.state === "broadcast") {
			underWay++;
			continue;
		} else if (transaction.kind !== "cancel") {
			// Checked even if few blocks have passed, because on a chain that has halted it may be late by our clock.
			next = await replace(lane, { transaction, head, why: "unsent" });
		}
		let outcome = await broadcast(lane, { transaction: next, head, isNew: next !== transaction });
		if (outcome === "refused" && next === transaction && isOverdue(transaction)) {
			next = await replace(lane, { transaction, head, why: "refused" });
			if (next !== transaction) outcome = await broadcast(lane, { transaction: next, head, isNew: true });
		}
		// Its jobs go back to the queue, and a cancel fills the nonce later. This is not done if the chain once accepted
		// it, because it may still land, and its jobs would only be skipped elsewhere. If the answer was lost, it is
		// unknown whether it was accepted. Its jobs go back too, because contracts do a job only once, and a release that
		// waits for a relayer's funds could be too late.
		if (outcome === "unfunded" && isOverdue(transaction)) {
			await giveBackUnsent(lane.pool, lane.id, transaction.nonce);
		}
		if (outcome !== "sent") return { underWay: undefined, isRequeued };
		underWay++;
	}
	return { underWay, isRequeued };
}

/**
 * Returns the transactions that the chain has not mined in time, and those whose sending it has not answered, because
 * nodes may hold another one with the nonce, from before a restore. The same is true of a transaction that no node
 * takes.
 */
export function findStuck(
	{ policy }: Pick<Lane, "policy">,
	{ open, head }: Pick<LaneView, "open" | "head">,
): LaneTransaction[] {
	return open.filter(
		({ sentAtBlock }) => sentAtBlock === undefined || head.number - sentAtBlock >= policy.replaceAfterBlocks,
	);
}

type Offer = { transaction: LaneTransaction; head: ChainHead };
/** `isNew` is true if the transaction was signed just now, and is offered for the first time. */
type FirstOffer = Offer & { isNew: boolean };
type Outcome = "sent" | "refused" | "unfunded" | "unsent";

/**
 * Offers the transaction to the chain. Returns `refused` if the chain refuses these bytes, `unsent` for other reasons.
 * An op whose authorization the chain does not take, for example because its wallet itself has pending transactions, is
 * cancelled immediately to make room for others, because a higher fee would not help.
 */
export async function broadcast(lane: Lane, { transaction, head, isNew }: FirstOffer): Promise<Outcome> {
	const outcome = await offer(lane, { transaction, head, isNew });
	if (outcome !== "unacceptable") return outcome;
	const { kind, attempt, raw } = transaction;
	const isFirstDelegation = kind === "open" && attempt === 0 && raw.startsWith("0x04");
	if (!isFirstDelegation) return "refused";
	const cancel = await replace(lane, { transaction, head, why: "unacceptable" });
	return (await offer(lane, { transaction: cancel, head, isNew: true })) === "sent" ? "sent" : "unsent";
}

/**
 * Offers the transaction without cancelling it. Returns `unacceptable` if the chain refuses more than its fees or
 * nonce.
 */
async function offer(
	lane: Lane,
	{ transaction, head, isNew }: FirstOffer,
): Promise<Outcome | "unacceptable"> {
	const startMs = lane.nowMs();
	const outcome = await offerUntraced(lane, { transaction, head });
	const isError = outcome !== "sent";
	// A refused bundle of many jobs may be offered again for hours, so only the first failure is traced.
	if (isError ? isNew : transaction.state === "signed") {
		void traceTransaction(lane, transaction, { name: "transaction sent", startMs, outcome, isError });
	}
	return outcome;
}

async function offerUntraced(lane: Lane, { transaction, head }: Offer): Promise<Outcome | "unacceptable"> {
	const { id, chain, pool, log } = lane;
	const { nonce, attempt, hash, kind, jobs } = transaction;
	const about = { ...id, nonce, attempt, hash, kind, swapIds: jobs.map((job) => job.swapId) };
	let sent: SendOutcome;
	let atBlock: number;
	try {
		sent = await sendRaw(chain, transaction.raw);
		atBlock = await readNewestBlock(lane, head);
		// The follower may have yet to read it. Or the store was restored while this process ran, and the next transactions
		// would be signed with spent nonces too.
		if (sent.outcome === "spent") await catchUpNonce(lane);
	} catch (err) {
		log.error({ ...about, err }, "the chain does not answer");
		return "unsent";
	}
	if (sent.outcome === "unfunded") {
		// Any transaction signed now would only wait behind this one.
		log.error({ ...about, problem: sent.problem }, "the relayer cannot pay for gas; send it more");
		await noteRefused(pool, id, transaction, { atBlock });
		return "unfunded";
	}
	if (sent.outcome === "refused") {
		log.error({ ...about, problem: sent.problem }, "the chain does not accept the transaction");
		await noteRefused(pool, id, transaction, { atBlock });
		return sent.isForContent ? "unacceptable" : "refused";
	}
	log.info({ ...about, outcome: sent.outcome }, "transaction sent");
	await markBroadcast(pool, id, [transaction], { atBlock });
	return "sent";
}

/**
 * How far the chain may be ahead of the follower, in multiples of the time after which a transaction is replaced. A
 * higher number from a node is not trusted, because the transaction would never be replaced.
 */
const maxAhead = 100;

/**
 * Returns the chain's newest block. Called after a transaction was sent, so that its age is not counted from the head
 * in the store. On a quiet chain the follower seldom reads the head, so it may be many blocks older than the
 * transaction.
 */
async function readNewestBlock(
	{ chain: { client }, policy }: Pick<Lane, "chain" | "policy">,
	{ number: followed }: ChainHead,
): Promise<number> {
	// The client's own method may return an answer that was requested before the transaction was sent.
	const newest = hexToNumber(await client.request({ method: "eth_blockNumber" }));
	return Math.min(Math.max(newest, followed), followed + maxAhead * policy.replaceAfterBlocks);
}

/** Returns how many nonces are spent in final blocks that the follower has read, and how many in any block. */
export async function readSpentNonces(
	{ chain: { client }, id: { relayer: address } }: Pick<Lane, "chain" | "id">,
	{ stuck, head }: { stuck: readonly LaneTransaction[]; head: ChainHead },
): Promise<{ finally: number; byNow: number }> {
	const byNow = await client.getTransactionCount({ address });
	// A node may have no state of a block that old, so it is queried only if the answer matters.
	if (stuck.every(({ nonce }) => nonce >= byNow)) return { finally: 0, byNow };
	const blockNumber = BigInt(head.finalizedNumber);
	return { finally: await client.getTransactionCount({ address, blockNumber }), byNow };
}

/**
 * Signs the same call again for a higher fee, or a cancel if its jobs must not or need not be done now. A call that the
 * chain refuses even then is cancelled to make room for others. Its jobs count a failure, and are sent alone once the
 * nonce is spent. A call that was not sent yet stays as it is while its jobs can be done. Returns what to send now.
 */
async function replace(
	lane: Lane,
	{ transaction, head, why }: Offer & { why: "stuck" | "unsent" | "refused" | "unacceptable" },
): Promise<LaneTransaction> {
	const { id, account, pool, nowMs, log } = lane;
	// The old signature is left out, so that it does not become part of the signed bytes.
	const { r: _, s: __, v: ___, yParity: ____, ...before } = parseTransaction(transaction.raw);
	const { maxFeePerGas } = transaction;
	const feesBefore = { maxFeePerGas, maxPriorityFeePerGas: before.maxPriorityFeePerGas ?? 0n };
	const raised = replacementFees(feesBefore, freshFees(lane, head));
	const isCancel = transaction.kind === "cancel";
	// The replacement would have the same bytes.
	if (!raised && (isCancel || why === "stuck")) return transaction;
	const isHopeless =
		!isCancel && (why === "unacceptable" || (why === "refused" && (transaction.attempt > 0 || !raised)));
	const fees = raised ?? feesBefore;
	const startMs = nowMs();
	const { nonce } = transaction;
	const isCancelled =
		isHopeless || isCancel || !(await isWanted(lane, { transaction, data: before.data, head }));
	if (why === "unsent" && !isCancelled) return transaction;
	let raw: Hex;
	try {
		raw = isCancelled
			? await signCancel(lane, { nonce, fees })
			: await account.signTransaction({
					...before,
					nonce,
					gas: await gasAgain(lane, before),
					...fees,
				} as Parameters<typeof account.signTransaction>[0]);
	} catch (err) {
		if (!(err instanceof SignerError) || (why !== "stuck" && err.isRetryable)) throw err;
		// The signed transaction can be sent again without its signer, and so can those behind it.
		log.error({ ...id, nonce, err }, "the signer does not sign the replacement of a stuck transaction");
		return transaction;
	}
	const replacement: LaneTransaction = {
		nonce,
		attempt: transaction.attempt + 1,
		hash: keccak256(raw),
		raw,
		kind: isCancelled ? "cancel" : transaction.kind,
		jobs: transaction.jobs,
		...(transaction.move && { move: transaction.move }),
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
	};
	const [signed] = await insertAttempts(pool, id, [replacement], { countsFailures: isHopeless });
	// The nonce was settled meanwhile, or another run replaced the transaction. The replacement must not be sent; sending
	// the old transaction again does no harm.
	if (!signed) return transaction;
	void traceTransaction(lane, signed, { name: "transaction signed", startMs });
	return signed;
}

/** Returns whether a transaction's jobs, or its move, can still be done and are still to be done. */
async function isWanted(
	{ pool, id, policy: { finalitySeconds }, nowMs }: Lane,
	{
		transaction: { nonce, move },
		data,
		head,
	}: { transaction: LaneTransaction; data: Hex | undefined; head: ChainHead },
): Promise<boolean> {
	if (move) {
		const deadline = data && deadlineOf(data);
		const isLate = deadline !== undefined && nowMs() >= deadline * 1_000;
		return !isLate && (await isMoveWanted(pool, id, move));
	}
	const jobs = await jobsOfNonce(pool, id, nonce);
	const clock = { head, finalitySeconds, nowMs: nowMs() };
	return jobs.length > 0 && !jobs.some((job) => lateReason(job, clock));
}

/** Returns the current gas limit of the same call, because the gas that pays for its data may have increased since. */
async function gasAgain(
	{ chain }: Lane,
	{ gas = 0n, to, data = "0x" }: Pick<ReturnType<typeof parseTransaction>, "gas" | "to" | "data">,
): Promise<bigint> {
	if (!to) return gas;
	return gas + (await feeModelOf(chain.deployment).readExtraGas(chain, { to, data }));
}

/** The number of pending transactions that nodes keep of one account. */
const maxAtOnce = 16;

/**
 * Signs cancels for nonces below the lane's that none of its transactions spends. A restored store has lost the
 * transactions that spent them, and then the chain dropped those. Transactions with higher nonces would wait forever.
 */
async function fillNonceGap(
	lane: Lane,
	{ from, to, head }: { /** The chain's next nonce. */ from: number; to: number; head: ChainHead },
): Promise<LaneTransaction[]> {
	if (from >= to) return [];
	const { id, pool, log } = lane;
	const fees = freshFees(lane, head);
	// A node that is behind returns a nonce that is spent already. The store then has the transaction that spent it.
	const known = await noncesKnown(pool, id, { from, to });
	const cancels: LaneTransaction[] = [];
	for (let nonce = from; nonce < to && cancels.length < maxAtOnce; nonce++) {
		if (known.has(nonce)) continue;
		const raw = await signCancel(lane, { nonce, fees });
		cancels.push(firstCancel(raw, { nonce, fees }));
	}
	if (cancels.length === 0) return [];
	const inserted = await insertAttempts(pool, id, cancels);
	log.warn({ ...id, nonces: inserted.map(({ nonce }) => nonce) }, "unused nonces are cancelled");
	return inserted;
}
