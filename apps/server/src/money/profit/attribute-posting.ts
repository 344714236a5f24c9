import type { Amount } from "@geoswap/protocol";
import type { Hex } from "viem";
import { ownAccounts } from "../ledger/post.ts";

/** Why the desk's own money changed. Each change has exactly one reason. */
export const reasons = [
	/** What a swap took and brought, and its share of the gas. */
	"swap",
	/** A trade, a send or a bridge of the treasurer's key. */
	"move",
	/** What the operator put in or took out. */
	"declared",
	"unattributed",
	/** Gas of transactions that were for no swap, rents, and what else belongs to none. */
	"overhead",
	"opening",
	/** The opposite of a posting of a dropped block that was for no swap. */
	"reversal",
] as const;
export type Reason = (typeof reasons)[number];

export type BookedPosting = {
	name: string;
	orderId: Hex | undefined;
	entries: readonly { account: string; token: Hex; amount: Amount }[];
	/** The transaction whose gas this is. Undefined if the journal does not have it. */
	transaction: { kind: string; orderIds: readonly Hex[] } | undefined;
	/** Whether a move of the treasurer's key caused it. */
	isMove: boolean;
};

/** An entry of the desk's own money, or a share of one, with its reason. */
export type Part = {
	reason: Reason;
	/** The order of the swap. */
	orderId: Hex | undefined;
	account: string;
	token: Hex;
	amount: Amount;
};

/** Names of postings. A loss without an order is that of a bridge. */
const moveNames: readonly string[] = ["Traded", "Sent", "Bridged", "arrival", "loss"];

/** Returns the desk's own entries of a posting with their reasons. The parts of an entry add up to it. */
export function attributePosting(posting: BookedPosting): Part[] {
	return posting.entries.filter(({ account }) => isOwn(account)).flatMap((entry) => partsOf(entry, posting));
}

function partsOf(entry: BookedPosting["entries"][number], posting: BookedPosting): Part[] {
	const { name, orderId, entries, transaction, isMove } = posting;
	const part = (reason: Reason, { amount = entry.amount, of = undefined as Hex | undefined } = {}): Part => {
		return { reason, orderId: of, account: entry.account, token: entry.token, amount };
	};
	if (name === "opening") return [part("opening")];
	if (name === "gas") {
		if (isMove || transaction?.kind === "move") return [part("move")];
		const isForSwaps = transaction && transaction.kind !== "cancel" && transaction.kind !== "close";
		if (!isForSwaps || transaction.orderIds.length === 0) return [part("overhead")];
		const shares = divide(entry.amount, transaction.orderIds.length);
		return transaction.orderIds.map((of, i) => part("swap", { amount: shares[i] ?? 0n, of }));
	}
	if (orderId) return [part("swap", { of: orderId })];
	if (name === "reversal") return [part("reversal")];
	const others = entries.filter(({ account, token }) => !isOwn(account) && token === entry.token);
	const cameFrom = (accounts: readonly string[]) =>
		-others.filter(({ account }) => accounts.includes(account)).reduce((sum, { amount }) => sum + amount, 0n);
	const declared = cameFrom(["treasury"]);
	const unattributed = cameFrom(["unattributed", "unattributed:relayer"]);
	// A stranger can add to what an operator sends, and both are one entry.
	if (declared !== 0n && unattributed !== 0n) {
		return [
			part("declared", { amount: declared }),
			part("unattributed", { amount: entry.amount - declared }),
		];
	}
	if (declared !== 0n || name === "Withdrawn") return [part("declared")];
	if (unattributed !== 0n) return [part("unattributed")];
	return [part(moveNames.includes(name) ? "move" : "overhead")];
}

function isOwn(account: string): boolean {
	return ownAccounts.some((own) => own === account);
}

/** Divides an amount into equal shares. The first one has the remainder too. */
function divide(amount: Amount, count: number): Amount[] {
	const share = amount / BigInt(count);
	const shares = Array.from({ length: count }, () => share);
	shares[0] = amount - share * BigInt(count - 1);
	return shares;
}
