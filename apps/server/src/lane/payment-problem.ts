import {
	type Amount,
	addressOfWord,
	isSolana,
	mulDivDown,
	mulDivUp,
	nativeTokenOf,
	type Order,
	orderId,
	type UsdE18,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { PaymentFacts } from "../job/read-payment-facts.ts";
import {
	blocksNeeded,
	type DepositPolicy,
	isDeepAt,
	isFinalAt,
	needsSecondProvider,
} from "../swap/decide/deposit-policy.ts";
import type { Job } from "../swap/facts/job.ts";

/** The reason why a payment is not signed. */
export type PaymentProblem =
	/** The job's terms are not those of its order, are not terms that we quote, or cannot be carried out on its chain. */
	| "wrong-order"
	/** The follower has not read that the order was opened, or one of its chains is not configured. */
	| "not-opened"
	/** The deposit is not as deep as its value needs. */
	| "not-deep"
	/** The second provider does not have the deposit at that depth. */
	| "unseen"
	/** Nothing is reserved for the swap, or too little, or another token. */
	| "not-reserved"
	/** This process has had no price of the input or of the paid token since it started. */
	| "no-price"
	/** The payment is worth more than the deposit plus the margin. */
	| "above-deposit";

/** The rules for payments that a lane has from its own configuration and prices, not from the store. */
export type PaymentRules = {
	/** Returns a chain's policy for deposits; undefined if the chain is not configured. */
	depositPolicyOf: (chainId: bigint) => DepositPolicy | undefined;
	/**
	 * Returns why the service cannot have quoted an order; undefined if it can. An escrow opens orders of any terms. With
	 * a stranger's origin vault, or a refund that comes too early, the service would never be paid for the delivery.
	 */
	whyNotOurs: (job: { orderId: Hex; order: Order }) => string | undefined;
	/** The token that a chain's vault buys outputs with; undefined on Solana, where it buys nothing. */
	settlementToken?: Hex;
	/** Returns an amount's value in USD, with 18 decimals, at the newest price of any age; undefined without one. */
	worthE18: (asset: { chainId: bigint; token: Hex; amount: Amount }) => bigint | undefined;
	/** How much more than the deposit a fill may be worth, because prices move until it is signed. */
	fillMarginBps: number;
};

/**
 * Returns why a payment must not be signed, or undefined if the facts justify it. Nothing in the job is trusted except
 * what the order's id proves and what is within the bounds of the facts.
 *
 * A fill needs a reservation and a deposit that is deep enough, and may be worth the deposit plus a margin. The output
 * of a settled swap is owed, deposit or not. A lane that signed it before signs it again, up to the reservation only.
 */
export function paymentProblem(
	job: Job<"fill" | "refund">,
	facts: PaymentFacts,
	rules: PaymentRules,
): PaymentProblem | undefined {
	const { order } = job;
	const paysOn = job.kind === "fill" ? order.destinationChainId : order.originChainId;
	if (orderId(order) !== job.orderId || BigInt(job.chainId) !== paysOn) return "wrong-order";
	// Escrow contracts and the program check refunds themselves.
	if (job.kind === "refund") return undefined;

	const isSettled = facts.swap?.isSettled === true;
	const isRepeated = isSettled && facts.wasSigned;
	const isOwed = isRepeated && order.originChainId !== order.destinationChainId;
	const paid = paidBy(job, rules);
	if (!paid || (!isOwed && rules.whyNotOurs(job) !== undefined)) return "wrong-order";
	// A settled swap's reservation ends when its delivery is final. If even that is reorged, the output is owed again.
	if (facts.reserved || !isSettled) {
		if (!isReserved(facts, { chainId: job.chainId, topUp: order.topUp, ...paid })) return "not-reserved";
		if (isOwed) return undefined;
	}
	const input = { chainId: order.originChainId, token: addressOfInput(order), amount: order.inputAmount };
	const inputE18 = rules.worthE18(input);
	const { destinationChainId: chainId, topUp } = order;
	const paidE18 = rules.worthE18({ chainId, ...paid });
	const topUpE18 =
		topUp === 0n ? 0n : rules.worthE18({ chainId, token: nativeTokenOf(chainId), amount: topUp });
	if (inputE18 === undefined || paidE18 === undefined || topUpE18 === undefined) return "no-price";
	// On one chain the vault pays an order only if it is open in the same transaction, so a delivery that was dropped
	// with its deposit is repeated as soon as the deposit is back. Rounds do not query the second provider about a swap
	// that has settled.
	if (!isOwed && !(isRepeated && facts.opened)) {
		const problem = depositProblem(order, facts, { ...rules, inputE18 });
		if (problem) return problem;
	}
	return paidE18 + topUpE18 > withMargin(inputE18, rules) ? "above-deposit" : undefined;
}

function depositProblem(
	order: Order,
	{ opened, origin, crossCheck, swap }: PaymentFacts,
	{ depositPolicyOf, inputE18, ...rules }: PaymentRules & { inputE18: UsdE18 },
): PaymentProblem | undefined {
	const policy = depositPolicyOf(order.originChainId);
	if (!opened || !origin || !swap || !policy) return "not-opened";
	const { blockNumber } = opened;
	const value = valueUsdCents(swap.valueUsdCents, inputE18, rules);
	const blocks = blocksNeeded(policy, value);
	if (!isDeepAt(blockNumber, origin, blocks)) return "not-deep";
	if (!needsSecondProvider(policy, value)) return undefined;
	// Rounds query the second provider by the written value alone. If they do not, the deposit counts when it is final.
	if (!needsSecondProvider(policy, swap.valueUsdCents) && isFinalAt(blockNumber, origin)) return undefined;
	const seen = crossCheck && { number: crossCheck.headNumber, finalizedNumber: crossCheck.finalizedNumber };
	return seen && isDeepAt(blockNumber, seen, blocks) ? undefined : "unseen";
}

const e16 = 10n ** 16n;
const bps = 10_000n;

/**
 * Returns the value that the submit wrote, by which the swap waited for confirmations; or the deposit's current value
 * if that is higher by more than the margin, which does not happen with an honest submit.
 */
function valueUsdCents(
	written: bigint,
	inputE18: UsdE18,
	rules: Pick<PaymentRules, "fillMarginBps">,
): bigint {
	return inputE18 > withMargin(written * e16, rules) ? mulDivUp(inputE18, 1n, e16) : written;
}

function withMargin(valueE18: UsdE18, { fillMarginBps }: Pick<PaymentRules, "fillMarginBps">): bigint {
	return mulDivDown(valueE18, bps + BigInt(fillMarginBps), bps);
}

/** Returns the maximum that leaves the vault, and its token; undefined if its chain has no such delivery. */
function paidBy(
	{ order, payload: { delivery } }: Job<"fill">,
	{ settlementToken }: PaymentRules,
): { token: Hex; amount: Amount } | undefined {
	const output = addressOfWord(order.destinationChainId, order.outputToken);
	if ((delivery.kind === "payout") !== isSolana(order.destinationChainId)) return undefined;
	switch (delivery.kind) {
		case "inventory":
			return { token: output, amount: delivery.amount };
		case "router":
			// Without a pool the vault would take the budget as an amount of the output, and pay that from its inventory.
			if (!settlementToken || !isPath(delivery.fees)) return undefined;
			return { token: settlementToken, amount: delivery.budget };
		case "payout":
			return { token: output, amount: delivery.amount + delivery.unusedRent };
	}
}

/** Returns whether these are the fees of one or two pools, as the vault accepts them. */
function isPath(fees: readonly number[]): boolean {
	return fees.length >= 1 && fees.length <= 2 && fees.every((fee) => fee > 0 && fee < 2 ** 24);
}

function addressOfInput({ originChainId, inputToken }: Order): Hex {
	return addressOfWord(originChainId, inputToken);
}

function isReserved(
	{ reserved }: PaymentFacts,
	{ chainId, token, amount, topUp }: { chainId: number; token: Hex; amount: Amount; topUp: Amount },
): boolean {
	if (!reserved || reserved.chainId !== chainId || topUp > reserved.topUp) return false;
	return reserved.token.toLowerCase() === token.toLowerCase() && amount <= reserved.amount;
}
