import { addressOfWord, isSolana, mulDivDown, mulDivUp, type Order, orderId } from "@geoswap/protocol";
import type { Hex } from "viem";
import { isWithinSolana } from "../chain/solana/send/order-sides.ts";
import type { PaymentFacts } from "../job/read-payment-facts.ts";
import {
	blocksNeeded,
	type DepositPolicy,
	isDeepAt,
	isFinalAt,
	needsSecondProvider,
} from "../swap/decide/deposit-depth.ts";
import type { Job } from "../swap/facts/job.ts";

/** Why a payment is not signed. */
export type PaymentProblem =
	/** The job's terms are not those of its order, are not terms that we quote, or cannot be carried out on its chain. */
	| "wrong-order"
	/** The follower has not seen the order opened, or one of its chains is not configured. */
	| "not-opened"
	/** The deposit is not as deep as its value needs. */
	| "not-deep"
	/** The second provider does not have the deposit as deep. */
	| "unseen"
	/** A refund: the output was delivered. */
	| "delivered"
	/** Nothing is reserved for the swap, or less, or of another token. */
	| "not-reserved"
	/** No price of the input or of what is paid was seen since this process began. */
	| "no-price"
	/** More is paid than the deposit is worth, and the margin. */
	| "above-deposit";

/** What a lane knows of its own, beside the store. */
export type PaymentRules = {
	/** How careful to be with deposits on a chain; undefined where it is not configured. */
	depositPolicyOf: (chainId: bigint) => DepositPolicy | undefined;
	/**
	 * Why an order is not one that we quoted; undefined where it can be. An escrow opens orders of any terms: with a
	 * stranger's origin vault, or a refund that comes too early, a delivery is never paid for.
	 */
	whyNotOurs: (job: { orderId: Hex; order: Order }) => string | undefined;
	/** The token that a chain's vault buys outputs with; undefined on Solana, where it buys nothing. */
	settlementToken?: Hex;
	/** What an amount is worth in USD, with 18 decimals, at the newest price, however old; undefined where there is none. */
	worthE18: (asset: { chainId: bigint; token: Hex; amount: bigint }) => bigint | undefined;
	/** How much more than the deposit a fill may be worth: prices move until it is signed. */
	fillMarginBps: number;
};

/**
 * Returns why a payment must not be signed, or undefined where the facts justify it. Nothing in the job counts but what
 * the order's id proves and what is within the bounds of the facts.
 *
 * A fill needs a deposit, deep enough, and a reservation, and it may be worth the deposit and a margin. What was settled
 * is owed, deposit or not: a lane signs it again if it has signed it before, and then within what is reserved alone.
 */
export function paymentProblem(
	job: Job<"fill" | "refund">,
	facts: PaymentFacts,
	rules: PaymentRules,
): PaymentProblem | undefined {
	const { order } = job;
	const paysOn = job.kind === "fill" ? order.destinationChainId : order.originChainId;
	if (orderId(order) !== job.orderId || BigInt(job.chainId) !== paysOn) return "wrong-order";
	if (job.kind === "refund") return refundProblem(order, facts, rules);

	const isSettled = facts.swap?.isSettled === true;
	const isOwed = isSettled && facts.wasSigned && order.originChainId !== order.destinationChainId;
	const paid = paidBy(job, rules);
	if (!paid || (!isOwed && rules.whyNotOurs(job) !== undefined)) return "wrong-order";
	// Reservations of what was settled end when its delivery is final. A chain that drops it even then owes it again.
	if (facts.reserved || !isSettled) {
		if (!isReserved(facts, { chainId: job.chainId, ...paid })) return "not-reserved";
		if (isOwed) return undefined;
	}
	const input = { chainId: order.originChainId, token: addressOfInput(order), amount: order.inputAmount };
	const inputE18 = rules.worthE18(input);
	const paidE18 = rules.worthE18({ chainId: order.destinationChainId, ...paid });
	if (inputE18 === undefined || paidE18 === undefined) return "no-price";
	if (!isOwed) {
		const problem = depositProblem(order, facts, { ...rules, inputE18 });
		if (problem) return problem;
	}
	return paidE18 > withMargin(inputE18, rules) ? "above-deposit" : undefined;
}

/** On Solana all inputs are in one account: a refund without a deposit would be paid with somebody else's. */
function refundProblem(
	{ originChainId }: Order,
	{ opened, origin, isFilled }: PaymentFacts,
	{ depositPolicyOf }: PaymentRules,
): PaymentProblem | undefined {
	if (!opened || !origin || !depositPolicyOf(originChainId)) return "not-opened";
	if (!isFinalAt(opened.blockNumber, origin)) return "not-deep";
	return isFilled ? "delivered" : undefined;
}

function depositProblem(
	order: Order,
	{ opened, origin, sighting, swap }: PaymentFacts,
	{ depositPolicyOf, inputE18, ...rules }: PaymentRules & { inputE18: bigint },
): PaymentProblem | undefined {
	const policy = depositPolicyOf(order.originChainId);
	if (!opened || !origin || !swap || !policy) return "not-opened";
	const { blockNumber } = opened;
	const value = valueUsdCents(swap.valueUsdCents, inputE18, rules);
	const blocks = blocksNeeded(policy, value);
	// Within Solana nothing binds the payout to the deposit.
	const isDeep = isWithinSolana(order)
		? isFinalAt(blockNumber, origin)
		: isDeepAt(blockNumber, origin, blocks);
	if (!isDeep) return "not-deep";
	if (!needsSecondProvider(policy, value)) return undefined;
	// Rounds ask the second provider by the written value alone. If nobody asks, the deposit counts when it is final.
	if (!needsSecondProvider(policy, swap.valueUsdCents) && isFinalAt(blockNumber, origin)) return undefined;
	const seen = sighting && { number: sighting.headNumber, finalizedNumber: sighting.finalizedNumber };
	return seen && isDeepAt(blockNumber, seen, blocks) ? undefined : "unseen";
}

const e16 = 10n ** 16n;
const bps = 10_000n;

/**
 * The value that the submit wrote, by which the swap waited for depth; unless the deposit is worth more by far than what
 * is written, which an honest submit does not do.
 */
function valueUsdCents(
	written: bigint,
	inputE18: bigint,
	rules: Pick<PaymentRules, "fillMarginBps">,
): bigint {
	return inputE18 > withMargin(written * e16, rules) ? mulDivUp(inputE18, 1n, e16) : written;
}

function withMargin(valueE18: bigint, { fillMarginBps }: Pick<PaymentRules, "fillMarginBps">): bigint {
	return mulDivDown(valueE18, bps + BigInt(fillMarginBps), bps);
}

/** What leaves the vault at most, of which token; undefined where the delivery is none that its chain knows. */
function paidBy(
	{ order, payload: { delivery } }: Job<"fill">,
	{ settlementToken }: PaymentRules,
): { token: Hex; amount: bigint } | undefined {
	const output = addressOfWord(order.destinationChainId, order.outputToken);
	if ((delivery.kind === "payout") !== isSolana(order.destinationChainId)) return undefined;
	switch (delivery.kind) {
		case "stock":
			return { token: output, amount: delivery.amount };
		case "router":
			// Without a pool the vault takes the budget for an amount of the output, and pays that from its stock.
			if (!settlementToken || !isPath(delivery.fees)) return undefined;
			return { token: settlementToken, amount: delivery.budget };
		case "payout":
			return { token: output, amount: delivery.amount + delivery.unusedRent };
	}
}

/** Whether these are the fees of one or two pools, as the vault takes them. */
function isPath(fees: readonly number[]): boolean {
	return fees.length >= 1 && fees.length <= 2 && fees.every((fee) => fee > 0 && fee < 2 ** 24);
}

function addressOfInput({ originChainId, inputToken }: Order): Hex {
	return addressOfWord(originChainId, inputToken);
}

function isReserved(
	{ reserved }: PaymentFacts,
	{ chainId, token, amount }: { chainId: number; token: Hex; amount: bigint },
): boolean {
	if (!reserved || reserved.chainId !== chainId) return false;
	return reserved.token.toLowerCase() === token.toLowerCase() && amount <= reserved.amount;
}
