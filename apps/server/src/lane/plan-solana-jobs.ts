import {
	addressOfWord,
	emptyAccountRentLamports,
	fromSolanaWord,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { findMarkerTransaction } from "../chain/solana/find-marker-transaction.ts";
import { readHoldings } from "../chain/solana/read-holdings.ts";
import { readMarkers } from "../chain/solana/read-markers.ts";
import { readSolanaWallet } from "../chain/solana/read-solana-wallet.ts";
import type { ChainHead } from "../store/facts.ts";
import type { Job, JobKind } from "../store/job.ts";
import { lateReason } from "./late-reason.ts";
import { later } from "./later.ts";
import { mostLamports } from "./most-lamports.ts";
import type { SolanaLane } from "./solana-lane.ts";
import type { Verdict } from "./verdict.ts";

/** What a transaction for a job says beside its order. */
export type SolanaDraft =
	| { kind: "open"; job: Job<"open"> }
	| { kind: "fill"; job: Job<"fill">; amount: bigint; createsAccount: boolean }
	| { kind: "void"; job: Job<"void"> }
	| { kind: "release"; job: Job<"release"> }
	| { kind: "refund"; job: Job<"refund">; createsAccount: boolean };

export type SolanaPlan =
	| { do: "sign"; draft: SolanaDraft }
	/** The order is decided already, as by a job of this kind, in a transaction that this store may have forgotten. */
	| { do: "adopt"; kind: JobKind; hash: Hex }
	| Extract<Verdict, { do: "refuse" | "postpone" | "leave" }>;

const native = toSolanaWord(solanaNativeToken);

/**
 * What to do about each of the jobs, by what the chain holds now, and as far as the fee payer's lamports go. One that
 * cannot be planned keeps no other from it.
 */
export async function planSolanaJobs(
	lane: SolanaLane,
	{ jobs, head, lamports }: { jobs: readonly Job[]; head: ChainHead; lamports: bigint },
): Promise<SolanaPlan[]> {
	const [decided, accounts, stock] = await Promise.all([
		readDecisions(lane, jobs),
		Promise.allSettled(jobs.map((job) => readReceiver(lane, job))),
		jobs.some(({ kind }) => kind === "fill") ? readStock(lane) : new Map<Hex, bigint>(),
	]);
	let left = lamports;
	return jobs.map((job, i): SolanaPlan => {
		const decision = decided.get(job);
		if (decision) return decision;
		const clock = { head, finalitySeconds: lane.policy.blockhashSeconds.most, nowMs: lane.nowMs() };
		// An op dies with its blockhash, not at a time.
		const reason = job.kind === "open" ? undefined : lateReason(job, clock);
		if (reason) return { do: "refuse", reason };
		const account = accounts[i];
		if (account?.status === "rejected") {
			const { swapId, kind } = job;
			lane.log.error({ ...lane.id, swapId, kind, err: account.reason }, "the job cannot be planned");
			return later;
		}
		// Each is simulated as if it were alone. Together they must not take more than there is.
		if (left < mostLamports(job.kind)) return { do: "leave" };
		const receiver = account?.value ?? { hasAccount: true, lamports: 0n };
		const plan: SolanaPlan =
			job.kind === "fill"
				? planPayout(job, { receiver, stock })
				: { do: "sign", draft: draftOf(job, receiver) };
		if (plan.do === "sign") left -= mostLamports(job.kind);
		return plan;
	});
}

function draftOf(job: Exclude<Job, { kind: "fill" }>, { hasAccount }: Receiver): SolanaDraft {
	switch (job.kind) {
		case "refund":
			return { kind: "refund", job, createsAccount: !hasAccount };
		case "open":
			return { kind: "open", job };
		case "void":
			return { kind: "void", job };
		case "release":
			return { kind: "release", job };
	}
}

type Receiver = { hasAccount: boolean; lamports: bigint };

/** Takes what it pays out of the stock, so that those after it count with the rest. */
function planPayout(
	job: Job<"fill">,
	{ receiver, stock }: { receiver: Receiver; stock: Map<Hex, bigint> },
): SolanaPlan {
	const { order } = job;
	const { delivery } = job.payload;
	// What was priced for another chain cannot be paid here, and must not keep others from it.
	if (delivery.kind !== "payout") return { do: "refuse", reason: "reverted" };
	const token = tokenOf(job);
	// Lamports need none.
	const createsAccount = !receiver.hasAccount;
	const amount = createsAccount ? delivery.amount : delivery.amount + delivery.unusedRent;
	if (amount < order.minOutput) return { do: "refuse", reason: "price" };
	if (token === native && receiver.lamports + amount < emptyAccountRentLamports) {
		return { do: "refuse", reason: "recipient" };
	}
	const available = stock.get(token) ?? 0n;
	if (available < amount) return { do: "refuse", reason: "liquidity" };
	stock.set(token, available - amount);
	return { do: "sign", draft: { kind: "fill", job, amount, createsAccount } };
}

/** What the vault can pay. Its own address must stay alive. */
async function readStock({ chain }: SolanaLane): Promise<Map<Hex, bigint>> {
	const { vault } = await readHoldings(chain, { commitment: "confirmed" });
	const stock = new Map(vault);
	stock.set(native, (stock.get(native) ?? 0n) - emptyAccountRentLamports);
	return stock;
}

/** Who is paid by the job, if anyone but ourselves is. */
async function readReceiver({ chain }: SolanaLane, job: Job): Promise<Receiver | undefined> {
	if (job.kind !== "fill" && job.kind !== "refund") return undefined;
	const wallet = fromSolanaWord(job.kind === "fill" ? job.order.recipient : job.order.wallet);
	return readSolanaWallet(chain, { wallet, token: tokenOf(job) });
}

function tokenOf({ kind, chainId, order }: Job): Hex {
	return addressOfWord(chainId, kind === "fill" ? order.outputToken : order.inputToken);
}

const sides = {
	vault: { kinds: ["fill", "void"], decidedBy: { vault: "fill", escrow: "void" } },
	escrow: { kinds: ["release", "refund"], decidedBy: { vault: "release", escrow: "refund" } },
} as const satisfies Record<string, { kinds: readonly JobKind[]; decidedBy: Record<string, JobKind> }>;

/** Those of the jobs whose order has a marker, and what made it. */
async function readDecisions(
	{ chain, log, id }: SolanaLane,
	jobs: readonly Job[],
): Promise<Map<Job, SolanaPlan>> {
	const decisions = new Map<Job, SolanaPlan>();
	const readSide = async (side: keyof typeof sides) => {
		const { kinds, decidedBy } = sides[side];
		const concerned = jobs.filter((job) => kinds.some((kind) => kind === job.kind));
		if (concerned.length === 0) return;
		const base = chain.deployment[side];
		const orderIds = concerned.map(({ orderId }) => orderId);
		const owners = await readMarkers(chain, { base, orderIds, commitment: "confirmed" });
		const decide = async (job: Job, owner: "vault" | "escrow") => {
			const { swapId, kind, orderId } = job;
			try {
				const hash = await findMarkerTransaction(chain, { base, orderId });
				if (!hash) log.warn({ ...id, swapId, kind }, "what decided the order is not found");
				decisions.set(job, hash ? { do: "adopt", kind: decidedBy[owner], hash } : later);
			} catch (err) {
				log.error({ ...id, swapId, kind, err }, "what decided the order cannot be looked for");
				decisions.set(job, later);
			}
		};
		await Promise.all(
			concerned.flatMap((job, i) => {
				const owner = owners[i];
				return owner ? [decide(job, owner)] : [];
			}),
		);
	};
	await Promise.all([readSide("vault"), readSide("escrow")]);
	return decisions;
}
