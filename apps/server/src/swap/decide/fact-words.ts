import type { Fact } from "./decision.ts";

/** A thing that an operator can do, and the command for it if there is one. */
export type Todo = { what: string; command?: string };

type Words = {
	/** For the operator. */
	means: string;
	todo?: Todo;
	/** The cause of a delay at this step, for the user whose swap it is. It names the chains by placeholders. */
	told?: string;
};

const check = "geoswapd config check";

/** The meaning of each step, and advice for a swap that stays at it. */
export const factWords: Record<Fact, Words> = {
	// Facts of swaps whose chains cannot be judged.
	"chain-behind": {
		means: "The worker is catching up with a chain and has not read all of its final blocks yet.",
		told: "The service is reading blocks of the two networks that it has missed.",
	},
	"chain-unconfigured": {
		means: "One of its chains is no longer in the configuration, so nothing can be decided.",
		todo: { what: "Put the chain back into the configuration and restart the worker.", command: check },
		told: "The service does not work with one of the two networks at present. Its operator must add it again.",
	},
	"chain-unfollowed": {
		means: "The worker has not read one of its chains yet.",
		todo: { what: "Check whether the chain's endpoint answers, and whether a worker runs.", command: check },
		told: "The service cannot read one of the two networks at present.",
	},
	"origin-stale": {
		means: "The newest block of the origin chain is too old to trust the deposit, so nothing is paid out.",
		todo: { what: "Check whether the origin chain's endpoint answers with new blocks.", command: check },
		told: "{origin} has shown no new blocks for a while. Nothing is paid out until it does.",
	},
	"destination-stale": {
		means: "The newest block of the destination chain is too old, so nothing is paid out there.",
		todo: { what: "Check whether the destination chain's endpoint answers with new blocks.", command: check },
		told: "{destination} has shown no new blocks for a while. Nothing can be paid out there until it does.",
	},
	// Facts of swaps before the deposit.
	opening: {
		means:
			"The order is not open yet. A relayer sends the wallet's signed op to the origin chain until then.",
		told: "{origin} has not accepted the transaction that takes the money yet.",
	},
	"deposit-dropped": {
		means: "The origin chain dropped the deposit in a reorg. The fill that was queued for it is withdrawn.",
		told: "{origin} undid the block in which the money was taken. The service sends the transaction again.",
	},
	"not-opened": {
		means: "The order was not opened before its deadline. The swap has failed; the wallet keeps its input.",
	},
	// Facts of swaps from the deposit to the delivery.
	deposited: {
		means: "The input is in escrow. The service waits for as many confirmations as its value requires.",
		told: "{origin} is slower than usual to confirm that the money was taken.",
	},
	"deposit-unseen": {
		means: "The input is in escrow. Its value requires that a second provider confirms the deposit.",
		todo: { what: "Check whether the second provider of the origin chain answers.", command: check },
		told: "A second, independent source has not confirmed yet that the money was taken.",
	},
	"deposit-moved": {
		means: "A reorg put the deposit into another block. The fill that was queued for the first is withdrawn.",
	},
	"inventory-not-reserved": {
		means:
			"The input is in escrow, but the reservation of the output has lapsed. The next round prices the order again, then reserves inventory, or gives up and refunds.",
		told: "The service must price the payout again before it can send it.",
	},
	"price-unknown": {
		means: "The reservation of the output has lapsed, and without a price it cannot be made again.",
		todo: { what: "Check whether feeds and pools of both chains answer.", command: check },
		told: "The service has no current price for the payout.",
	},
	"exposure-cap": {
		means:
			"The fill is held back, because with it more would be paid out against unreleased or unfinal deposits than the origin chain's caps allow.",
		todo: {
			what: "Wait until other swaps are released. Check that attesters answer, or raise unreleasedCapUsd or unfinalCapUsd.",
			command: check,
		},
		told: "Too many swaps from {origin} are under way. The payout waits until others are finished.",
	},
	"attesters-silent": {
		means:
			"The deposit is deep enough, but too few attesters are alive. Without them the input could not be released later, so nothing is paid out.",
		todo: { what: "Start the attesters that do not answer; this command names them.", command: check },
		told: "The independent signers, without whom nothing is paid out, do not answer.",
	},
	"finality-broken": {
		means: "The fill is held back, because one of the chains dropped final blocks and is paused for it.",
		told: "One of the two networks undid blocks that counted as final. Payouts are stopped until the operator has checked it.",
	},
	delivering: {
		means: "The output is on its way. The vault pays the recipient on the destination chain.",
		told: "The payout was ordered, and {destination} has not confirmed it yet.",
	},
	// Facts of swaps after the delivery.
	delivered: { means: "The recipient has the output. The payment is not final yet." },
	"delivery-final": {
		means: "The payment to the recipient is final. The input is to be released from escrow to the vault.",
	},
	released: { means: "The input was released to the vault. That is not final yet." },
	"delivered-and-refunded": {
		means: "The output was delivered and the input was refunded too, so the service has lost the value.",
		todo: { what: "Find out why it was not released in time.", command: "geoswapd reconcile" },
	},
	"delivered-unopened": {
		means: "The output was delivered, and the chain then dropped the deposit. It is made again if possible.",
		todo: {
			what: "Once the open deadline is past, this is a loss, which the books name.",
			command: "geoswapd reconcile",
		},
	},
	"released-undelivered": {
		means: "The input was released, and the chain then dropped the final payment of the output.",
		todo: { what: "Pay the recipient by hand.", command: "geoswapd reconcile" },
	},
	// Facts of swaps whose input goes back to the wallet.
	"fill-withdrawn": { means: "The service has given up on the delivery and withdraws the queued fill." },
	"fill-undecided": {
		means: "The service has given up on the delivery, but a fill that it signed before may still land.",
		told: "The payout was given up, but one that was sent before may still arrive. That must be ruled out before anything is returned.",
	},
	voiding: {
		means:
			"The service has given up on the delivery. It closes the order on the destination chain, then refunds.",
		told: "The payout was given up. {destination} has not confirmed that yet.",
	},
	expiring: {
		means: "The service has given up on the delivery. The order closes by itself at its fill deadline.",
		told: "The payout was given up. The money is returned once the time for a payout has passed.",
	},
	voided: {
		means: "The order is closed on the destination chain. Once that is final, the input is refunded.",
		told: "The payout was given up. {destination} has not confirmed that permanently yet.",
	},
	"closed-unopened": {
		means: "The order is closed, and its deposit is gone. The swap ends once it can no longer be opened.",
	},
	refunding: {
		means: "The order is closed. The input is being returned from escrow to the wallet.",
		told: "The money is being returned, and {origin} has not confirmed it yet.",
	},
	"refund-credited": {
		means:
			"The wallet did not take its refund, so the escrow keeps it as a credit. Only the wallet can claim it; the swap stays pending until then. A swap without an account is not checked again.",
		todo: { what: "Ask the wallet's owner to call `claim` on the escrow." },
		told: "The wallet did not accept the returned money. The contract keeps it for the wallet, and only the wallet can collect it.",
	},
	refunded: { means: "The input is back in the wallet. That is not final yet." },
	"refund-final": { means: "The input is back in the wallet, and that is final." },
};
