import type { Amount, SolanaAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { SolanaTransaction } from "./read-solana-transaction.ts";

/**
 * The final transactions that name the service's keys, program and accounts. Anyone can name these in as many
 * transactions as they pay for, so of transactions that call no instruction of the program only the gifts are kept.
 */
export type SolanaHistory = {
	/** Transactions that the service's fee payers paid for, or that called the program or took money, oldest first. */
	transactions: readonly SolanaTransaction[];
	/** Gifts to each of the service's accounts, oldest first, without those from before the books began. */
	gifts: ReadonlyMap<SolanaAddress, readonly SolanaGift[]>;
	/** Gifts up to this slot are added up, and dated at it. */
	giftsMergedAt: number;
	/** Number of strangers' transactions that were read. One that names several of the addresses counts once for each. */
	strangers: number;
	/** Number of these that cannot be decoded, or that the node refuses. */
	undecodable: number;
	/** The newest transaction that names each address. */
	newest: ReadonlyMap<SolanaAddress, Signature>;
	/** The part of each address's list that is not read yet. Empty if the history is complete. */
	unread: ReadonlyMap<SolanaAddress, UnreadPart>;
	/** The error that ended the reading early. Everything read before it is kept, and the next call continues there. */
	failure: unknown;
};

/** The amount that strangers gave to one of the service's accounts in a slot. */
export type SolanaGift = { slot: number; amount: Amount };

/** Transactions older than `before` and newer than `until`. */
type UnreadPart = { before: Signature; until: Signature | undefined };
