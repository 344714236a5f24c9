import type { SolanaAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { SolanaTransaction } from "./read-solana-transaction.ts";

/**
 * The final transactions that name our keys and accounts. Anyone can name these in as many transactions as they pay for,
 * so of a transaction that is not ours only what it gave us is kept.
 */
export type SolanaHistory = {
	/** Transactions that our fee payers paid for, that made a marker of ours or that took something from us, oldest first. */
	transactions: readonly SolanaTransaction[];
	/** By account of ours, oldest first, without what was there when the books began. */
	gifts: ReadonlyMap<SolanaAddress, readonly SolanaGift[]>;
	/** Gifts up to this slot are added up, and told as of it. */
	giftsMergedAt: number;
	/** How many transactions of others were read, once for each of our addresses that they name. */
	strangers: number;
	/** How many of those cannot be decoded. */
	undecodable: number;
	/** By address: the newest transaction that names it. */
	newest: ReadonlyMap<SolanaAddress, Signature>;
	/** By address: the part of its list that is not read yet. Empty where the history is complete. */
	unread: ReadonlyMap<SolanaAddress, UnreadPart>;
	/** The error that ended the reading early. What was read before it is kept, and the next call goes on there. */
	failure: unknown;
};

/** The amount that strangers gave to one of our accounts in a slot. */
export type SolanaGift = { slot: number; amount: bigint };

/** Transactions older than `before` and newer than `until`. */
type UnreadPart = { before: Signature; until: Signature | undefined };
