import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";

/** The kinds of payloads that are signed. */
type PayloadKind =
	| "open"
	| "fill"
	| "void"
	| "release"
	| "refund"
	| "late-refund"
	| "close"
	| "cancel"
	| "trade"
	| "send"
	| "bridge"
	| "mint"
	| "attestation"
	| "heartbeat"
	| "receipt";

/** An amount that a payload spends, of something that has a cap. */
export type Charge = {
	/** The name of the meter, as in the caps. */
	meter: string;
	/**
	 * The item that the amount is for. A later payload for the same item replaces this one on the chain, or fails there,
	 * so only the higher of their amounts counts.
	 */
	item: string;
	amount: bigint;
	/** Why the amount counts here, for a refusal's message. */
	why?: string;
};

/** Money that leaves for a third party's address. It is charged once it is known whether a deposit proves it. */
export type Payout = {
	/** The meter of the paid token. */
	meter: string;
	item: string;
	amount: bigint;
	token: Hex;
	/** The rest of what is paid for the order, in another token. The deposit must be worth both. */
	beside?: { token: Hex; amount: bigint };
	/** The order that is paid. */
	order: Order;
};

/** The vault that may deliver an order, and the times that bound it. The vault's state shows whether it still can. */
export type DeliveryPlace = {
	orderId: Hex;
	chainId: number;
	/** The vault as the order's word. */
	vault: Hex;
	fillDeadline: number;
	refundAfter: number;
};

/** A decision about an order that a payload makes or, if it is an attestation, allows. */
export type Decision =
	| { end: "delivery"; place: DeliveryPlace }
	/** The input may go to the service's vault. */
	| { end: "release" }
	/** The input may go back to its wallet. */
	| { end: "return" };

/** A decision, and the order that it is about. */
export type OrderDecision = Decision & { orderId: Hex };

/** The findings about a payload that follows the rules, from its bytes and the signer's own files alone. */
export type Judgement = {
	kind: PayloadKind;
	charges: Charge[];
	payouts: Payout[];
	nonce?: number;
	/** Decisions about orders. The signer signs no two payloads that contradict each other. */
	decisions?: OrderDecision[];
	/** A description of the payload for the audit log: orders, amounts, recipients. */
	about: Record<string, unknown>;
};
