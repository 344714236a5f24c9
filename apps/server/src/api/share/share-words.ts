import { type FailureCode, isSolana, type StatusResponse } from "@geoswap/protocol";
import type { Fact } from "../../swap/decide/decision.ts";
import { factWords } from "../../swap/decide/fact-words.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import type { SwapAmounts } from "../page/swap-amounts.ts";

/** A shared swap, and what is known about it besides its row. */
export type SharedSwap = {
	swap: SwapRecord;
	/** The swap as its account gets it. */
	answer: StatusResponse;
	/** True if it made no progress for longer than its chains should take. */
	isLate: boolean;
	/** The fact that the last round found. */
	fact: Fact | undefined;
};

type Tone = "busy" | "good" | "back" | "late";

export type Step = { text: string; at?: string | undefined; state: "done" | "now" | "next" };

/** The sentences of the page, for a reader who has never heard of the service. */
export type ShareWords = {
	tone: Tone;
	/** One or two words. */
	status: string;
	headline: string;
	/** One or two sentences about what is happening. */
	now: string;
	/** The next step of the swap, or that nothing is left to do. */
	next: string;
	money: { amount: string; where: string };
	steps: Step[];
};

/** The reason why a swap is not paid out. */
const reasons: Record<FailureCode, string> = {
	NOT_OPENED: "The swap was not started in time.",
	PRICE_MOVED: "The price moved too far before the payout.",
	NO_LIQUIDITY: "There were not enough tokens for the payout.",
	RECIPIENT_REFUSED: "The recipient's address could not be paid.",
	DENIED: "The service's operator does not pay out this swap.",
	TOO_LATE: "The payout could not be made in time.",
};

/** Returns the words of the page. `brief` has fewer decimals, for the text that is read first. */
export function shareWords(
	shared: SharedSwap,
	{ exact, brief }: { exact: SwapAmounts; brief: SwapAmounts },
): ShareWords {
	const { answer, isLate, fact } = shared;
	const common = { money: moneyOf(shared, exact), steps: stepsOf(answer, brief) };
	// A refund that the wallet did not accept is shown immediately, because only the wallet's owner can resolve it.
	const isHeldUp = answer.status === "pending" && (isLate || fact === "refund-credited");
	return { ...(isHeldUp ? sayDelay(shared, brief) : sayStatus(shared, { exact, brief })), ...common };
}

type Said = Pick<ShareWords, "tone" | "status" | "headline" | "now" | "next">;

/** Returns the words for a delayed swap: what delays it, and that no money is lost by that. */
function sayDelay({ swap, answer, fact }: SharedSwap, amounts: SwapAmounts): Said {
	const { origin, destination, input, minOutput } = amounts;
	const what = { opening: "start", refunding: "return" }[answer.stage as string] ?? "payout";
	const cause = fact && factWords[fact].told;
	const back = `everything goes back to the wallet. The ${holderOf(swap)} that holds the money lets anyone send it back, even if this service stops`;
	return {
		tone: "late",
		status: "Delayed",
		headline: `The ${what} is delayed`,
		now: (cause ?? "The swap made no progress for longer than its networks should take.")
			.replaceAll("{origin}", origin)
			.replaceAll("{destination}", destination),
		next:
			what === "return"
				? `The ${input} still belongs to the wallet.`
				: `What was agreed still holds: at least ${minOutput} on ${destination}. Otherwise, ${back}.`,
	};
}

function sayStatus(
	{ swap, answer }: SharedSwap,
	{ exact, brief }: { exact: SwapAmounts; brief: SwapAmounts },
): Said {
	const { origin, destination, input, output, quotedOutput, minOutput } = brief;
	const code = swap.failure?.code ?? swap.givingUp;
	const reason = code ? `${reasons[code]} ` : "";
	switch (answer.status) {
		case "settled":
			return {
				tone: "good",
				status: "Done",
				headline: `${output} arrived`,
				now: `The recipient has ${exact.output} on ${destination}, for ${exact.input} from ${origin}.`,
				next: "Nothing is left to do.",
			};
		case "refunded":
			return {
				tone: "back",
				status: "Sent back",
				headline: `${input} came back`,
				now: `${reason}The whole ${exact.input} is back in the wallet on ${origin}. No fee was charged.`,
				next: "Nothing is left to do. A new swap can be started at any time.",
			};
		case "failed":
			return {
				tone: "back",
				status: "Did not happen",
				headline: "Nothing was taken",
				now: `${reason}The wallet still has its ${exact.input} on ${origin}.`,
				next: "Nothing is left to do. A new swap can be started at any time.",
			};
		case "pending":
			return { tone: "busy", ...sayStage() };
	}

	function sayStage(): Omit<Said, "tone"> {
		const paysNext = `Next, the recipient gets about ${quotedOutput} on ${destination}, and at least ${minOutput}. If that cannot be done, everything goes back to the wallet.`;
		if (answer.stage === "refunding") {
			return {
				status: "Being sent back",
				headline: `${input} is going back`,
				now: `${reason}The whole ${exact.input} is being returned to the wallet on ${origin}.`,
				next: "Next, the money is back in the wallet. No fee is charged.",
			};
		}
		if (answer.deliveryTxHash !== undefined) {
			return {
				status: "Almost done",
				headline: `${output} was paid out`,
				now: `The recipient was paid ${output}. ${destination} is confirming it.`,
				next: "Next, the swap is done.",
			};
		}
		switch (answer.stage) {
			case "opening":
				return {
					status: "Starting",
					headline: `${input} is being taken`,
					now: `The wallet has agreed to give ${input} on ${origin}. The service is taking it now.`,
					next: paysNext,
				};
			case "deposited":
				return {
					status: "In progress",
					headline: `${input} was taken`,
					now: `The ${input} is held safe while ${origin} confirms it.`,
					next: paysNext,
				};
			case "delivering":
			case "delivered":
				return {
					status: "In progress",
					headline: `${quotedOutput} is on its way`,
					now: `The ${input} was confirmed. The payout on ${destination} is being sent.`,
					next: paysNext,
				};
		}
	}
}

function moneyOf({ swap, answer }: SharedSwap, amounts: SwapAmounts): ShareWords["money"] {
	const { input, output, origin, destination } = amounts;
	switch (answer.funds.holder) {
		case "recipient":
			return { amount: output, where: `with the recipient, on ${destination}` };
		case "wallet": {
			const word = answer.status === "refunded" ? "back" : answer.status === "failed" ? "still" : "";
			return { amount: input, where: `${word} in the wallet, on ${origin}`.trim() };
		}
		case "escrow":
			return {
				amount: input,
				where: `in a ${holderOf(swap)} on ${origin}. It can pay for the delivery or give the money back to the wallet, and nothing else`,
			};
	}
}

/** Returns what holds the swap's input, in the terms of its chain. */
function holderOf({ order }: SharedSwap["swap"]): "contract" | "program" {
	return isSolana(order.originChainId) ? "program" : "contract";
}

/** Returns the steps of the swap, done and remaining. */
function stepsOf(answer: StatusResponse, { origin, destination }: SwapAmounts): Step[] {
	const { status, stage, createdAt, openedAt, deliveredAt, endedAt, originTxHash, deliveryTxHash } = answer;
	const agreed: Step = { text: "The wallet agreed", at: createdAt, state: "done" };
	if (status === "failed") {
		return [agreed, { text: "Nothing was taken. The swap is over", at: endedAt, state: "done" }];
	}
	const isOver = status !== "pending";
	const isTaken = originTxHash !== undefined || isOver;
	const taken: Step = isTaken
		? { text: `Taken on ${origin}`, at: openedAt, state: "done" }
		: { text: `Being taken on ${origin}`, state: "now" };
	if (status === "refunded") {
		return [agreed, taken, { text: `Sent back on ${origin}`, at: endedAt, state: "done" }];
	}
	if (!isOver && stage === "refunding") {
		return [agreed, taken, { text: `Being sent back on ${origin}`, state: "now" }];
	}
	const isPaid = deliveryTxHash !== undefined || isOver;
	const paid: Step = isPaid
		? { text: `Paid out on ${destination}`, at: deliveredAt, state: "done" }
		: isTaken
			? { text: `Being paid out on ${destination}`, state: "now" }
			: { text: `Payout on ${destination}`, state: "next" };
	const confirmed: Step = isOver
		? { text: `Confirmed by ${destination}`, at: endedAt, state: "done" }
		: isPaid
			? { text: `Being confirmed by ${destination}`, state: "now" }
			: { text: `Confirmation by ${destination}`, state: "next" };
	return [agreed, taken, paid, confirmed];
}
