/** The result that a caller waits for. Only `pending` ever changes. */
export const swapStatuses = ["pending", "settled", "failed", "refunded"] as const;
export type SwapStatus = (typeof swapStatuses)[number];

/** The progress of a pending swap. A terminal swap keeps the last stage that it reached. */
export const swapStages = ["opening", "deposited", "delivering", "delivered", "refunding"] as const;
export type SwapStage = (typeof swapStages)[number];

/** The reasons why a swap did not settle. */
export const failureCodes = [
	/** The order was not opened before its deadline, so nothing was taken. */
	"NOT_OPENED",
	/** The output fell below the minimum before it could be delivered. */
	"PRICE_MOVED",
	/** There was too little inventory, or a limit let too little of it leave. */
	"NO_LIQUIDITY",
	/** The recipient could not be paid. */
	"RECIPIENT_REFUSED",
	/** The operator put the wallet or the recipient on its deny list before the output was delivered. */
	"DENIED",
	/** The output could not be delivered in time. */
	"TOO_LATE",
] as const;
export type FailureCode = (typeof failureCodes)[number];

/**
 * The one table of transitions. A stage may go back to an earlier one while the swap is pending, because a chain can
 * drop a deposit that was already observed. A terminal status never changes.
 */
export const swapTransitions = [
	{ from: "opening", to: "deposited", when: "the escrow has the input" },
	{ from: "deposited", to: "opening", when: "the chain dropped the deposit" },
	{ from: "deposited", to: "delivering", when: "the deposit is deep enough for its value" },
	{ from: "delivering", to: "opening", when: "the chain dropped the deposit" },
	{ from: "delivering", to: "settled", when: "the recipient has the output, at the destination's depth" },
	{
		from: "opening",
		to: "settled",
		when: "the chain dropped the deposit, but the output had been delivered",
	},
	{ from: "deposited", to: "refunding", when: "the output cannot be delivered" },
	{ from: "delivering", to: "refunding", when: "the output cannot be delivered" },
	{ from: "refunding", to: "opening", when: "the chain dropped the deposit" },
	{ from: "refunding", to: "settled", when: "a delivery landed before the order was closed" },
	{ from: "refunding", to: "refunded", when: "the wallet has the whole input back" },
	{ from: "opening", to: "failed", when: "the order was never opened, at a final block past its deadline" },
] as const satisfies readonly { from: SwapStage; to: SwapStage | SwapStatus; when: string }[];

/** Returns true if a swap with this status can no longer change. */
export function isTerminal(status: SwapStatus): status is Exclude<SwapStatus, "pending"> {
	return status !== "pending";
}

/** Returns true if the table has this transition. */
export function canMove(from: SwapStage, to: SwapStage | Exclude<SwapStatus, "pending">): boolean {
	return swapTransitions.some((transition) => transition.from === from && transition.to === to);
}
