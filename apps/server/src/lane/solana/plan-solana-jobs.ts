import {
	type Amount,
	addressOfWord,
	type Decision,
	emptyAccountRentLamports,
	fromSolanaWord,
	isWithinSolana,
	type OrderAccount,
	type RecordAccount,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { readOrders, readRecords } from "../../chain/solana/program/read-orders.ts";
import { readVault } from "../../chain/solana/program/read-vault.ts";
import { readSolanaWallet, type SolanaWalletReading } from "../../chain/solana/read/read-solana-wallet.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Job } from "../../swap/facts/job.ts";
import { readAttestedBatch } from "../evm/make-bundle.ts";
import { lateReason, type Verdict } from "../verdict.ts";
import { later, verdictOnFailureInSlots } from "./judge-simulation.ts";
import { maxLamports } from "./max-lamports.ts";
import type { SolanaLane } from "./solana-lane.ts";

/** The parameters of a job's transaction, beside its order. */
export type SolanaDraft =
	| { kind: "open"; job: Job<"open"> }
	| { kind: "fill"; job: Job<"fill">; amount: Amount; createsAccount: boolean }
	| { kind: "void"; job: Job<"void"> }
	| { kind: "release"; job: Job<"release">; decision: Decision }
	| { kind: "refund"; job: Job<"refund">; createsAccount: boolean; decision: Decision };

export type SolanaPlan =
	| { do: "sign"; draft: SolanaDraft }
	| Extract<Verdict, { do: "refuse" | "postpone" | "leave" }>;

type Receiver = Pick<SolanaWalletReading, "hasAccount" | "lamports" | "payProblem">;

const native = toSolanaWord(solanaNativeToken);

/**
 * A wallet's token account is created for a refund only if the input is worth at least this many times the account's
 * rent.
 */
const worthyOfAccount = 10n;

const payable: Receiver = { hasAccount: true, lamports: 0n, payProblem: undefined };

/** The state of each job's order on the chain. */
type Found = {
	/** The account of an order that began on Solana. */
	order: OrderAccount | undefined;
	/** The record of an order from another chain. */
	record: RecordAccount | undefined;
};

/**
 * Plans each of the jobs from the current state of the program, as far as the fee payer's lamports go. A job that
 * cannot be planned does not stop the others. A job of an order that was decided already is postponed until the
 * follower has read the events from the chain.
 */
export async function planSolanaJobs(
	lane: SolanaLane,
	{
		jobs,
		stopped,
		head,
		lamports,
	}: {
		jobs: readonly Job[];
		/** Payments that must not be signed now. */
		stopped: ReadonlyMap<Job, SolanaPlan>;
		head: ChainHead;
		lamports: Wei;
	},
): Promise<SolanaPlan[]> {
	const [found, receivers, inventory, decisions] = await Promise.all([
		readFound(lane, jobs),
		Promise.allSettled(jobs.map((job) => readReceiver(lane, job))),
		jobs.some(({ kind }) => kind === "fill") ? readInventory(lane) : new Map<Hex, bigint>(),
		Promise.allSettled(jobs.map((job) => readDecision(lane, job))),
	]);
	let left = lamports;
	return jobs.map((job, i): SolanaPlan => {
		const [receiver, decision] = [receivers[i], decisions[i]];
		const clock = { head, finalitySeconds: lane.policy.finalitySeconds, nowMs: lane.nowMs() };
		// An op expires with its blockhash, not at a deadline.
		const reason = job.kind === "open" ? undefined : lateReason(job, clock);
		if (reason) return { do: "refuse", reason };
		const stop = stopped.get(job);
		if (stop) return stop;
		const err = [receiver, decision].find((one) => one?.status === "rejected");
		if (err) {
			const { swapId, kind } = job;
			lane.log.error({ ...lane.id, swapId, kind, err: err.reason }, "the job cannot be planned");
			return later;
		}
		// Each transaction is simulated alone. Together they must not take more lamports than there are.
		if (left < maxLamports(job.kind) && !isExpiredOpen(job, head)) return { do: "leave" };
		const plan = planJob(lane, {
			job,
			found: found.get(job) ?? { order: undefined, record: undefined },
			receiver: (receiver?.status === "fulfilled" && receiver.value) || payable,
			decision: decision?.status === "fulfilled" ? decision.value : undefined,
			inventory,
		});
		if (plan.do === "sign") left -= maxLamports(job.kind);
		return plan;
	});
}

function planJob(
	lane: SolanaLane,
	{
		job,
		found: { order, record },
		receiver,
		decision,
		inventory,
	}: {
		job: Job;
		found: Found;
		receiver: Receiver;
		decision: Decision | undefined;
		inventory: Map<Hex, bigint>;
	},
): SolanaPlan {
	switch (job.kind) {
		case "open":
			return { do: "sign", draft: { kind: "open", job } };
		case "fill": {
			const isClosed = record?.state === "voided" || order?.state === "refunded";
			if (isClosed) return { do: "refuse", reason: "too_late" };
			const isDue = isWithinSolana(job.order) ? order?.state === "opened" : !record;
			return isDue ? planPayout(job, { receiver, inventory }) : later;
		}
		case "void":
			return record ? later : { do: "sign", draft: { kind: "void", job } };
		case "release":
		case "refund": {
			if (!order || order.isPaid) return later;
			const isDecided = order.state === (job.kind === "release" ? "released" : "refunded");
			if (!isDecided && order.state !== "opened") return later;
			const ended: Decision | undefined = isDecided ? { by: "earlier" } : decision;
			// The attesters' signatures were discarded together with those of another order of their list.
			if (!ended) return verdictOnFailureInSlots(job);
			if (job.kind === "release") return { do: "sign", draft: { kind: "release", job, decision: ended } };
			const createsAccount = !receiver.hasAccount;
			if (createsAccount && !isWorthAccount(lane, job)) return verdictOnFailureInSlots(job);
			return { do: "sign", draft: { kind: "refund", job, createsAccount, decision: ended } };
		}
	}
}

/** Plans a payout and takes it out of the inventory, so that the payouts after it count on the rest only. */
function planPayout(
	job: Job<"fill">,
	{ receiver, inventory }: { receiver: Receiver; inventory: Map<Hex, bigint> },
): SolanaPlan {
	const { order } = job;
	const { delivery } = job.payload;
	// A delivery that was priced for another chain cannot be paid here, and must not hold up others.
	if (delivery.kind !== "payout") return { do: "refuse", reason: "reverted" };
	const token = tokenOf(job);
	// Lamports need no account.
	const createsAccount = !receiver.hasAccount;
	const amount = createsAccount ? delivery.amount : delivery.amount + delivery.unusedRent;
	if (amount < order.minOutput) {
		// A submit refuses an order whose recipient has no account at that time and needs one to get the minimum.
		const isAccountGone = createsAccount && amount + delivery.unusedRent >= order.minOutput;
		return { do: "refuse", reason: isAccountGone ? "account_gone" : "price" };
	}
	const isTooLittle = receiver.lamports + amount < emptyAccountRentLamports;
	// Checked here because a simulation would not show the recipient's fault. Lamports can be paid to an account of any
	// program, and a failure does not show whose account was frozen or given away.
	if (receiver.payProblem || (token === native && isTooLittle)) return { do: "refuse", reason: "recipient" };
	const needed = new Map([[native, order.topUp]]);
	needed.set(token, (needed.get(token) ?? 0n) + amount);
	for (const [one, units] of needed) {
		if ((inventory.get(one) ?? 0n) < units) return { do: "refuse", reason: "liquidity" };
	}
	for (const [one, units] of needed) inventory.set(one, (inventory.get(one) ?? 0n) - units);
	return { do: "sign", draft: { kind: "fill", job, amount, createsAccount } };
}

/**
 * Returns whether the job's op can no longer land. To refuse such an op costs nothing, and only this lane can do it.
 */
function isExpiredOpen(job: Job, { finalizedHeight }: ChainHead): boolean {
	if (job.kind !== "open") return false;
	const { op } = job.payload;
	return "kind" in op && finalizedHeight > Number(op.lastValidBlockHeight);
}

/** Returns whether the input is worth much more than the rent of the wallet's account, which the wallet could close. */
function isWorthAccount({ payments }: SolanaLane, job: Job<"refund">): boolean {
	const { originChainId: chainId, inputAmount: amount } = job.order;
	const inputE18 = payments.worthE18({ chainId, token: tokenOf(job), amount });
	const native = { chainId, token: toSolanaWord(solanaNativeToken) };
	const rentE18 = payments.worthE18({ ...native, amount: tokenAccountRentLamports });
	return inputE18 !== undefined && rentE18 !== undefined && inputE18 >= worthyOfAccount * rentE18;
}

/** Returns how the order of a release or a refund is decided; undefined for other jobs, or without signatures. */
async function readDecision({ pool }: SolanaLane, job: Job): Promise<Decision | undefined> {
	if (job.kind !== "release" && job.kind !== "refund") return undefined;
	const { attestationId, kind } = job;
	if (attestationId !== undefined) {
		const batch = await readAttestedBatch(pool, { attestationId, kind });
		// Orders on Solana are signed for one by one.
		if (batch?.orders.length !== 1) return undefined;
		const { threshold, attesters, signatures } = batch.attestation;
		return { by: "attesters", set: { threshold: Number(threshold), attesters }, signatures };
	}
	if (kind === "release") return undefined;
	return { by: isWithinSolana(job.order) ? "operator" : "time" };
}

/** Reads the amounts that may leave the vault now. */
async function readInventory({ chain }: SolanaLane): Promise<Map<Hex, bigint>> {
	const { payable: inventory } = await readVault(chain, { commitment: "confirmed" });
	return new Map(inventory);
}

async function readFound({ chain }: SolanaLane, jobs: readonly Job[]): Promise<Map<Job, Found>> {
	const ofOrders = jobs.filter(
		({ kind, order }) =>
			kind === "release" || kind === "refund" || (kind === "fill" && isWithinSolana(order)),
	);
	const ofRecords = jobs.filter(
		(job) => (job.kind === "fill" || job.kind === "void") && !ofOrders.includes(job),
	);
	const [orders, records] = await Promise.all([
		readOrders(chain, { orderIds: ofOrders.map(({ orderId }) => orderId), commitment: "confirmed" }),
		readRecords(chain, {
			orderIds: ofRecords.map(({ orderId }) => orderId),
			commitment: "confirmed",
		}),
	]);
	return new Map<Job, Found>([
		...ofOrders.map((job, i) => [job, { order: orders[i], record: undefined }] as const),
		...ofRecords.map((job, i) => [job, { order: undefined, record: records[i]?.record }] as const),
	]);
}

/** Reads the recipient of a fill or refund; undefined for other jobs, which pay only the service. */
async function readReceiver({ chain }: SolanaLane, job: Job): Promise<Receiver | undefined> {
	if (job.kind !== "fill" && job.kind !== "refund") return undefined;
	const wallet = fromSolanaWord(job.kind === "fill" ? job.order.recipient : job.order.wallet);
	return readSolanaWallet(chain, { wallet, token: tokenOf(job) });
}

function tokenOf({ kind, chainId, order }: Job): Hex {
	return addressOfWord(chainId, kind === "fill" ? order.outputToken : order.inputToken);
}
