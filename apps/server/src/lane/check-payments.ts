import type { Database } from "../database/database.ts";
import { partiesOf } from "../deny/deny-list.ts";
import { type PaymentFacts, type PaymentProof, readPaymentFacts } from "../job/read-payment-facts.ts";
import type { Job, JobReason } from "../swap/facts/job.ts";
import type { LaneDeps } from "./evm/lane.ts";
import { type PaymentProblem, type PaymentRules, paymentProblem } from "./payment-problem.ts";
import type { Verdict } from "./verdict.ts";

type Stop = Extract<Verdict, { do: "refuse" | "postpone" }>;
type Payment = Job<"fill" | "refund">;

export type CheckedJobs = {
	/** All jobs in their order, each fill with what may be delivered now. */
	jobs: Job[];
	/** Payments that must not be signed now. */
	stopped: Map<Job, Stop>;
	/** Facts that justify the other payments. Nothing is locked, so the journal compares them again when it writes. */
	proofs: Map<Job, PaymentProof>;
};

/**
 * The outcome of each problem: the reason for which the payment is refused, or `hold` if it may resolve with time.
 * A swap that is held for too long is refunded.
 */
const outcomes: Record<PaymentProblem, "hold" | JobReason> = {
	"wrong-order": "reverted",
	"not-opened": "hold",
	"not-deep": "hold",
	unseen: "hold",
	"not-reserved": "liquidity",
	"no-price": "hold",
	"above-deposit": "price",
};

/**
 * Lowers each fill to the current value of its input. Returns a verdict on each payment without sufficient facts in the
 * store. A job's own row proves nothing. Otherwise, anyone who can write one, or forge the engine's messages, could
 * make the vault pay.
 */
export async function checkPayments(
	db: Database,
	{
		chainId,
		deliveryNow,
		denyList,
		log,
		metrics,
	}: Pick<LaneDeps, "deliveryNow" | "denyList" | "log" | "metrics"> & { chainId: number },
	{ jobs, rules, hold }: { jobs: readonly Job[]; rules: PaymentRules; hold: Stop },
): Promise<CheckedJobs> {
	const payments = jobs.filter(isPayment);
	const facts = payments.length > 0 ? await readPaymentFacts(db, payments) : [];
	const factsOf = new Map<Job, PaymentFacts | undefined>(payments.map((job, i) => [job, facts[i]]));
	const stopped = new Map<Job, Stop>();
	const proofs = new Map<Job, PaymentProof>();
	const deliveries: Job<"fill">[] = [];
	const checked = jobs.map((job): Job => {
		if (!isPayment(job)) return job;
		const known = factsOf.get(job) ?? { wasSigned: false };
		const found = check(job, known);
		if (typeof found === "object") {
			if (known.proof) proofs.set(found, known.proof);
			// The output of a settled swap is owed. A refund pays the wallet what is its own.
			if (found.kind === "fill" && !known.swap?.isSettled) deliveries.push(found);
			return found;
		}
		if (found === "unpriced") stopped.set(job, hold);
		else if (found === "below-minimum") stopped.set(job, { do: "refuse", reason: "price" });
		else stopped.set(job, stopFor(job, found));
		return job;
	});
	await Promise.all(deliveries.map(stopIfDenied));
	return { jobs: checked, stopped, proofs };

	/** Returns the payment as it may be signed, or why it may not. */
	function check(job: Payment, known: PaymentFacts): Payment | PaymentProblem | "unpriced" | "below-minimum" {
		try {
			const priced = priceNow(job, known);
			return typeof priced === "string" ? priced : (paymentProblem(priced, known, rules) ?? priced);
		} catch (error) {
			// The order's terms name something that is not an address.
			if (error instanceof RangeError) return "wrong-order";
			throw error;
		}
	}

	/**
	 * Returns the fill at the current price. A caller whose recipient can refuse the payout decides until the fill
	 * whether the swap settles, so the submit's price would be a free option. A settled swap whose delivery was reorged
	 * is delivered again in full.
	 */
	function priceNow(job: Payment, { swap }: PaymentFacts): Payment | "unpriced" | "below-minimum" {
		if (job.kind === "refund" || swap?.isSettled) return job;
		const delivery = deliveryNow({ order: job.order, delivery: job.payload.delivery });
		if (delivery === "no-price") return "unpriced";
		return delivery === "below-minimum" ? delivery : { ...job, payload: { ...job.payload, delivery } };
	}

	/** Refuses a fill from or to a denied address. While the deny list does not answer, the fill waits. */
	async function stopIfDenied(job: Job<"fill">): Promise<void> {
		const { swapId, order } = job;
		const denied = await denyList?.findDenied(partiesOf(order), "fill");
		if (denied === undefined) return;
		if (denied === "silent") {
			log.warn({ swapId, chainId }, "the payment waits, because the deny list does not answer");
			stopped.set(job, hold);
			return;
		}
		log.warn({ swapId, chainId, denied }, "the payment is refused, because an address is on the deny list");
		stopped.set(job, { do: "refuse", reason: "denied" });
	}

	function stopFor({ swapId, kind, orderId }: Payment, problem: PaymentProblem): Stop {
		metrics?.paymentStopped(chainId, problem);
		// A process that has just started has no prices yet.
		log[problem === "no-price" ? "warn" : "error"](
			{ swapId, chainId, orderId, kind, problem },
			"the payment is not signed, because the facts do not justify it",
		);
		const outcome = outcomes[problem];
		return outcome === "hold" ? hold : { do: "refuse", reason: outcome };
	}
}

function isPayment(job: Job): job is Payment {
	return job.kind === "fill" || job.kind === "refund";
}
