import {
	type Amount,
	addressOfWord,
	emptyAccountRentLamports,
	fromSolanaWord,
	type Order,
	solanaNativeToken,
	toSolanaWord,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { findMarkerTransaction } from "../../chain/solana/marker/find-marker-transaction.ts";
import { type MarkerOwner, readMarkers } from "../../chain/solana/marker/read-markers.ts";
import { readHoldings } from "../../chain/solana/read/read-holdings.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import { readSolanaWallet, type SolanaWalletReading } from "../../chain/solana/read/read-solana-wallet.ts";
import { receivedBy } from "../../chain/solana/read/received-by.ts";
import { isWithinSolana } from "../../chain/solana/send/order-sides.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { lateReason } from "../late-reason.ts";
import type { Verdict } from "../verdict.ts";
import { later } from "./later.ts";
import { readMarkerSearch, saveMarkerSearch } from "./marker-search.ts";
import { mostLamports } from "./most-lamports.ts";
import type { SolanaLane } from "./solana-lane.ts";

/** The parameters of a job's transaction, beside its order. */
export type SolanaDraft =
	| { kind: "open"; job: Job<"open"> }
	| { kind: "fill"; job: Job<"fill">; amount: Amount; createsAccount: boolean }
	| { kind: "void"; job: Job<"void"> }
	| { kind: "release"; job: Job<"release"> }
	| { kind: "refund"; job: Job<"refund">; createsAccount: boolean; isVoided: boolean };

export type SolanaPlan =
	| { do: "sign"; draft: SolanaDraft }
	/** The order is decided already, as a job of this kind does, by a transaction that this store may have lost. */
	| { do: "adopt"; kind: JobKind; hash: Hex }
	| Extract<Verdict, { do: "refuse" | "postpone" | "leave" }>;

const native = toSolanaWord(solanaNativeToken);

/**
 * Plans each of the jobs from the current state of the chain, as far as the fee payer's lamports go. A job that cannot
 * be planned does not stop the others.
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
		/** Payments that must not be signed now, unless the chain has decided their orders already. */
		stopped: ReadonlyMap<Job, SolanaPlan>;
		head: ChainHead;
		lamports: Wei;
	},
): Promise<SolanaPlan[]> {
	const [{ decided, voided }, accounts, stock] = await Promise.all([
		readDecisions(lane, jobs),
		Promise.allSettled(jobs.map((job) => readReceiver(lane, job))),
		jobs.some(({ kind }) => kind === "fill") ? readStock(lane) : new Map<Hex, bigint>(),
	]);
	let left = lamports;
	return jobs.map((job, i): SolanaPlan => {
		const decision = decided.get(job);
		if (decision) return decision;
		const clock = { head, finalitySeconds: lane.policy.blockhashSeconds.most, nowMs: lane.nowMs() };
		// An op expires with its blockhash, not at a deadline.
		const reason = job.kind === "open" ? undefined : lateReason(job, clock);
		if (reason) return { do: "refuse", reason };
		const stop = stopped.get(job);
		if (stop) return stop;
		const account = accounts[i];
		if (account?.status === "rejected") {
			const { swapId, kind } = job;
			lane.log.error({ ...lane.id, swapId, kind, err: account.reason }, "the job cannot be planned");
			return later;
		}
		// Each transaction is simulated alone. Together they must not take more lamports than there are.
		if (left < mostLamports(job.kind)) return { do: "leave" };
		const receiver = account?.value ?? { hasAccount: true, lamports: 0n, payProblem: undefined };
		const plan: SolanaPlan =
			job.kind === "fill"
				? planPayout(job, { receiver, stock })
				: { do: "sign", draft: draftOf(job, receiver, { isVoided: voided.has(job) }) };
		if (plan.do === "sign") left -= mostLamports(job.kind);
		return plan;
	});
}

function draftOf(
	job: Exclude<Job, { kind: "fill" }>,
	{ hasAccount }: Receiver,
	{ isVoided }: { isVoided: boolean },
): SolanaDraft {
	switch (job.kind) {
		case "refund":
			return { kind: "refund", job, createsAccount: !hasAccount, isVoided };
		case "open":
			return { kind: "open", job };
		case "void":
			return { kind: "void", job };
		case "release":
			return { kind: "release", job };
	}
}

type Receiver = Pick<SolanaWalletReading, "hasAccount" | "lamports" | "payProblem">;

/** Plans a payout and takes it out of the stock, so that the payouts after it count on the rest only. */
function planPayout(
	job: Job<"fill">,
	{ receiver, stock }: { receiver: Receiver; stock: Map<Hex, bigint> },
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
	// Checked here because a simulation would not blame the recipient: lamports can be paid to an account of any program,
	// and a failure does not say whose account was frozen or given away.
	if (receiver.payProblem || (token === native && isTooLittle)) return { do: "refuse", reason: "recipient" };
	const available = stock.get(token) ?? 0n;
	if (available < amount) return { do: "refuse", reason: "liquidity" };
	stock.set(token, available - amount);
	return { do: "sign", draft: { kind: "fill", job, amount, createsAccount } };
}

/** Reads the vault's payable balances. Its own address must keep its rent. */
async function readStock({ chain }: SolanaLane): Promise<Map<Hex, bigint>> {
	const { vault } = await readHoldings(chain, { commitment: "confirmed" });
	const stock = new Map(vault);
	stock.set(native, (stock.get(native) ?? 0n) - emptyAccountRentLamports);
	return stock;
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

type Side = "vault" | "escrow";

/**
 * Returns the keys whose markers show that the job's order is decided. Within Solana that is the vault's marker; but
 * earlier versions created it to void an order, and then the escrow's marker for the refund.
 */
function sidesOf({ kind, order }: Job): Side[] {
	if (kind === "open") return [];
	if (kind === "fill" || kind === "void") return ["vault"];
	return isWithinSolana(order) ? ["escrow", "vault"] : ["escrow"];
}

/** Finds the jobs whose orders are decided already, from the orders' markers and the transactions that created them. */
async function readDecisions(
	{ chain, log, id, pool }: SolanaLane,
	jobs: readonly Job[],
): Promise<{
	decided: Map<Job, SolanaPlan>;
	/** Refunds within Solana of orders that an earlier version voided for good, and that are still to be paid. */
	voided: Set<Job>;
}> {
	const decided = new Map<Job, SolanaPlan>();
	const voided = new Set<Job>();
	const readSide = async (side: Side) => {
		const concerned = jobs.filter((job) => sidesOf(job).includes(side) && !decided.has(job));
		if (concerned.length === 0) return;
		const base = chain.deployment[side];
		const orderIds = concerned.map(({ orderId }) => orderId);
		const owners = await readMarkers(chain, { base, orderIds, commitment: "confirmed" });
		const decide = async (job: Job, owner: MarkerOwner) => {
			const { swapId, kind, orderId, order } = job;
			try {
				const search = await readMarkerSearch(pool, job);
				const found = await findMarkerTransaction(chain, { base, orderId, ...search });
				if (found.hash) {
					const { hash } = found;
					const madeBy = await kindOfMarker(chain, { order, side, owner, hash });
					if (madeBy !== "void" || kind !== "refund") decided.set(job, { do: "adopt", kind: madeBy, hash });
					// A void that can still be dropped does not stop a payout from landing.
					else if (await readLanded(chain, hash, "finalized")) voided.add(job);
					else decided.set(job, later);
					return;
				}
				await saveMarkerSearch(pool, job, found.before);
				const told = { ...id, swapId, kind, isMoreToSearch: found.before !== undefined };
				log.warn(told, "the transaction that decided the order was not found yet");
				decided.set(job, later);
			} catch (err) {
				log.error(
					{ ...id, swapId, kind, err },
					"the transaction that decided the order could not be searched for",
				);
				decided.set(job, later);
			}
		};
		await Promise.all(
			concerned.flatMap((job, i) => {
				const owner = owners[i];
				return owner ? [decide(job, owner)] : [];
			}),
		);
	};
	await readSide("escrow");
	await readSide("vault");
	return { decided, voided };
}

/** Returns the kind of job that made the order's marker, from the marker's owner. */
async function kindOfMarker(
	chain: SolanaChain,
	{ order, side, owner, hash }: { order: Order; side: Side; owner: MarkerOwner; hash: Hex },
): Promise<JobKind> {
	if (side === "escrow") return owner === "vault" ? "release" : "refund";
	if (owner === "vault") return "fill";
	if (!isWithinSolana(order)) return "void";
	// Within Solana such a marker is a refund's. In earlier versions it was a void's, which paid nothing.
	const landed = await readLanded(chain, hash);
	if (!landed) throw new Error(`the chain no longer returns ${hash}`);
	const wallet = { owner: fromSolanaWord(order.wallet), token: order.inputToken };
	return (await receivedBy(landed, wallet)) >= order.inputAmount ? "refund" : "void";
}
