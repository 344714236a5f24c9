import type { Fact } from "./decision.ts";

/** A thing that a person can do, and the command for it if there is one. */
export type Todo = { what: string; command?: string };

type Words = { means: string; todo?: Todo };

const check = "geoswapd config check";

/** The meaning of each step, and advice for a swap that stays at it. */
export const factWords: Record<Fact, Words> = {
	// The chains cannot be judged.
	"chain-behind": {
		means: "The worker is catching up with a chain: it has not read all of its final blocks yet.",
	},
	"chain-unconfigured": {
		means: "One of its chains is no longer in the configuration, so nothing can be decided.",
		todo: { what: "Put the chain back into the configuration and restart the worker.", command: check },
	},
	"chain-unfollowed": {
		means: "The worker has not read one of its chains yet.",
		todo: { what: "See whether the chain's endpoint answers, and whether a worker runs.", command: check },
	},
	"origin-stale": {
		means: "The newest block of the origin chain is too old to trust the deposit, so nothing is paid out.",
		todo: { what: "See whether the origin chain's endpoint answers with new blocks.", command: check },
	},
	"destination-stale": {
		means: "The newest block of the destination chain is too old, so nothing is paid out there.",
		todo: { what: "See whether the destination chain's endpoint answers with new blocks.", command: check },
	},
	// Before the deposit.
	opening: {
		means:
			"The order is not open yet. A relayer sends the wallet's signed op to the origin chain until then.",
	},
	"deposit-dropped": {
		means: "The origin chain dropped the deposit in a reorg. The fill that was queued for it is withdrawn.",
	},
	"not-opened": {
		means: "The order was not opened before its deadline. The swap has failed; the wallet keeps its input.",
	},
	// From the deposit to the delivery.
	deposited: {
		means: "The input is in escrow. The service waits for as many confirmations as its value requires.",
	},
	"deposit-unseen": {
		means: "The input is in escrow. Its value requires that a second provider confirms the deposit.",
		todo: { what: "See whether the second provider of the origin chain answers.", command: check },
	},
	"deposit-moved": {
		means: "A reorg put the deposit into another block. The fill that was queued for the first is withdrawn.",
	},
	"stock-not-reserved": {
		means:
			"The input is in escrow, but the reservation of the output has lapsed. The next round prices the order again: it reserves stock, or gives up and refunds.",
	},
	"price-unknown": {
		means: "The reservation of the output has lapsed, and without a price it cannot be made again.",
		todo: { what: "See whether feeds and pools of both chains answer.", command: check },
	},
	"exposure-cap": {
		means:
			"The fill is held back: with it, more would be paid out against unreleased or unfinal deposits than the origin chain's caps allow.",
		todo: {
			what: "Wait until other swaps are released. See that attesters answer; or raise unreleasedCapUsd or unfinalCapUsd.",
			command: check,
		},
	},
	"attesters-silent": {
		means:
			"The deposit is deep enough, but too few attesters are alive. Without them the input could not be released later, so nothing is paid out.",
		todo: { what: "Start the attesters that do not answer; this command names them.", command: check },
	},
	"finality-broken": {
		means: "The fill is held back: one of the chains dropped final blocks and is paused for it.",
	},
	delivering: { means: "The output is on its way: the vault pays the recipient on the destination chain." },
	// After the delivery.
	delivered: { means: "The recipient has the output. The payment is not final yet." },
	"delivery-final": {
		means: "The payment to the recipient is final. The input is to be released from escrow to the vault.",
	},
	"deposit-not-final": {
		means: "The outcome is decided. The input stays in escrow until the deposit itself is final.",
	},
	released: { means: "The input was released to the vault. That is not final yet." },
	"delivered-and-refunded": {
		means: "The output was delivered and the input was refunded too: the service has lost the value.",
		todo: { what: "Find out why it was not released in time.", command: "geoswapd reconcile" },
	},
	"delivered-unopened": {
		means: "The output was delivered, and the chain then dropped the deposit. It is made again if possible.",
		todo: {
			what: "Once the open deadline is past this is a loss: the books name it.",
			command: "geoswapd reconcile",
		},
	},
	"released-undelivered": {
		means: "The input was released, and the chain then dropped the final payment of the output.",
		todo: { what: "Pay the recipient by hand.", command: "geoswapd reconcile" },
	},
	// Back to the wallet.
	"fill-withdrawn": { means: "The service has given up on the delivery and withdraws the queued fill." },
	"fill-undecided": {
		means: "The service has given up on the delivery, but a fill that it signed before may still land.",
	},
	voiding: {
		means:
			"The service has given up on the delivery. It closes the order on the destination chain, then refunds.",
	},
	expiring: {
		means: "The service has given up on the delivery. The order closes by itself at its fill deadline.",
	},
	voided: {
		means: "The order is closed on the destination chain. Once that is final, the input is refunded.",
	},
	"closed-unopened": {
		means: "The order is closed, and its deposit is gone. The swap ends once it can no longer be opened.",
	},
	refunding: { means: "The order is closed. The input is being returned from escrow to the wallet." },
	"refunding-unseen": {
		means: "The input is being returned although the second provider has not confirmed the deposit.",
		todo: { what: "Ask a third provider whether the deposit is there." },
	},
	"refund-credited": {
		means:
			"The wallet did not take its refund, so the escrow keeps it as a credit. Only the wallet can claim it; the swap stays pending until then.",
		todo: { what: "Ask the wallet's owner to call `claim` on the escrow." },
	},
	refunded: { means: "The input is back in the wallet. That is not final yet." },
	"refund-final": { means: "The input is back in the wallet, and that is final." },
};
