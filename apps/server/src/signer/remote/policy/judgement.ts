import type { Order, SolanaAddress } from "@geoswap/protocol";
import type { Address, Hex } from "viem";

/** The kinds of payloads that are signed. */
type PayloadKind =
	| "open"
	| "fill"
	| "void"
	| "release"
	| "refund"
	| "late-refund"
	| "cancel"
	| "attestation"
	| "heartbeat"
	| "receipt"
	| "deposit"
	| "payout"
	| "close";

/** An amount that a payload spends, of something that has a cap. */
export type Charge = {
	/** The name of what is counted, as in the caps. */
	meter: string;
	/**
	 * The item that the amount is for. A later payload for the same item replaces this one on the chain, or fails there, so that
	 * only the higher of their amounts counts.
	 */
	item: string;
	amount: bigint;
	/** Why the amount counts here, for a refusal's message. */
	why?: string;
};

/** Money that leaves for an address that is not ours. It is charged once it is known whether a deposit proves it. */
export type Payout = {
	/** The caps' name for the paid token. */
	meter: string;
	item: string;
	amount: bigint;
	token: Hex;
	/** The rest of what is paid for the order, in another token: the deposit must be worth both. */
	beside?: { token: Hex; amount: bigint };
	/** The order that is paid; undefined if the payload does not contain it. */
	order?: Order;
	/** A refund on Solana, which must go to the wallet of a deposit that this signer co-signed. */
	refund?: {
		seed: string;
		destination: SolanaAddress;
		mint: SolanaAddress;
		/** The key whose marker the refund makes. */
		base: "vault" | "escrow";
	};
};

/**
 * The place where a delivery can land: a vault on an EVM chain, or a marker on Solana. Its state shows whether the order
 * can still be delivered.
 */
export type DeliveryPlace =
	| { orderId: Hex; chainId: number; vault: Address; fillDeadline: number }
	| { marker: SolanaAddress };

/** A decision about an order that a payload makes or, if it is an attestation, allows. */
export type Decision =
	| { end: "delivery"; place: DeliveryPlace }
	/** The input goes to our vault. `marker` is the one that the payload makes; an attestation makes none. */
	| { end: "release"; marker?: SolanaAddress }
	/** The input goes back to its wallet, or may from then on. `marker` is as above. */
	| { end: "return"; marker?: SolanaAddress };

/** A decision, and the order that it is about. */
export type OrderDecision = Decision & {
	/** Names the order, as the seed of its markers. */
	seed: string;
	/** Whether the input may still be given back when the order's deadlines are over, as Solana's escrow may. */
	isLasting: boolean;
};

/** A deposit on Solana that a fee payer pays for. */
export type CoSignedDeposit = { orderId: Hex; wallet: SolanaAddress; mint: SolanaAddress; amount: bigint };

/** The findings about a payload that keeps the rules, from its bytes and the signer's own files alone. */
export type Judgement = {
	kind: PayloadKind;
	charges: Charge[];
	payouts: Payout[];
	nonce?: number;
	/** The marker that the payload makes, and the one that the order's other key would make: never both are signed. */
	marker?: SolanaAddress;
	rivalMarker?: SolanaAddress;
	/** Markers that the payload closes. */
	closedMarkers?: SolanaAddress[];
	/** Decisions about orders. No two payloads are signed that contradict each other. */
	decisions?: OrderDecision[];
	deposit?: CoSignedDeposit;
	/** A description of the payload for the audit log: orders, amounts, recipients. */
	about: Record<string, unknown>;
};
