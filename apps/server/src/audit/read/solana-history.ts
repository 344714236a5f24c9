import type { Amount, SolanaAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { SolanaTransaction } from "./read-solana-transaction.ts";

/**
 * The final transactions that name our keys, our program and our accounts. Anyone can name these in as many
 * transactions as they pay for, so only the gifts are kept of those that call no instruction of ours.
 */
export type SolanaHistory = {
	/** Transactions that our fee payers paid for, that called the program or that took from us, oldest first. */
	transactions: readonly SolanaTransaction[];
	/** Gifts by account of ours, oldest first, without those from before the books began. */
	gifts: ReadonlyMap<SolanaAddress, readonly SolanaGift[]>;
	/** Gifts up to this slot are added up, and dated at it. */
	giftsMergedAt: number;
	/** How many transactions of others were read. One that names several of our addresses counts once for each. */
	strangers: number;
	/** How many of those cannot be decoded, or are refused by the node. */
	undecodable: number;
	/** The newest transaction that names each address. */
	newest: ReadonlyMap<SolanaAddress, Signature>;
	/** The part of each address's list that is not read yet. Empty if the history is complete. */
	unread: ReadonlyMap<SolanaAddress, UnreadPart>;
	/** The error that ended the reading early. What was read before it is kept, and the next call continues there. */
	failure: unknown;
};

/** The amount that strangers gave to one of our accounts in a slot. */
export type SolanaGift = { slot: number; amount: Amount };

/** Transactions older than `before` and newer than `until`. */
type UnreadPart = { before: Signature; until: Signature | undefined };
