import type { Amount, UsdE18 } from "@geoswap/protocol";
import type { Hex } from "viem";

/**
 * Accounts of the paper ledger: the vaults' inventory, the service's inputs in escrow, the relayers' money for fees,
 * and the other parties, which are the callers, the chains that are paid fees, and the market in which the service
 * buys and sells.
 */
export type PaperAccount = "inventory" | "escrow" | "relayers" | "callers" | "chains" | "market";

export type Leg = { account: PaperAccount; chainId: number; token: Hex; amount: Amount };

/** A booking. The legs of each token add up to zero. */
export type Entry = {
	memo: "opening inventory" | "open" | "fill" | "release" | "refund" | "void" | "replenish";
	/** Absent if it belongs to no swap. */
	swap?: number;
	/** The pair that the gain belongs to. */
	pair?: string;
	/** Gain in USD at the booking's prices: the value received, rounded down, less the value given, rounded up. */
	gainE18: UsdE18;
	legs: Leg[];
};

export type PaperLedger = {
	/** Books an entry. Throws if its legs do not add up to zero. */
	post: (entry: Entry) => void;
	balance: (account: PaperAccount, chainId: number, token: Hex) => bigint;
	/** Returns the sum of all gains by pair. */
	gains: () => ReadonlyMap<string, UsdE18>;
	/** Returns how many transactions were paid on each chain, and the value of their fees. */
	spent: () => ReadonlyMap<number, { transactions: number; valueE18: UsdE18 }>;
};

/** Creates double-entry books in memory. Each entry is passed on to `write`. */
export function createPaperLedger({ write }: { write: (entry: Entry) => void }): PaperLedger {
	const balances = new Map<string, bigint>();
	const gains = new Map<string, bigint>();
	const spent = new Map<number, { transactions: number; valueE18: UsdE18 }>();
	return {
		post: (entry) => {
			const sums = new Map<string, bigint>();
			for (const { chainId, token, amount } of entry.legs) add(sums, `${chainId}:${token}`, amount);
			for (const [asset, sum] of sums) {
				if (sum !== 0n) throw new RangeError(`the legs of ${entry.memo} in ${asset} add up to ${sum}`);
			}
			for (const leg of entry.legs) add(balances, keyOf(leg), leg.amount);
			if (entry.pair !== undefined) add(gains, entry.pair, entry.gainE18);
			const paid = entry.legs.find(({ account }) => account === "chains");
			if (paid) {
				const before = spent.get(paid.chainId) ?? { transactions: 0, valueE18: 0n };
				const { transactions, valueE18 } = before;
				spent.set(paid.chainId, { transactions: transactions + 1, valueE18: valueE18 - entry.gainE18 });
			}
			write(entry);
		},
		balance: (account, chainId, token) => balances.get(keyOf({ account, chainId, token })) ?? 0n,
		gains: () => gains,
		spent: () => spent,
	};
}

/** Returns the two legs that move an amount from one account to another. */
export function move(
	amount: Amount,
	{ chainId, token, from, to }: { chainId: number; token: Hex; from: PaperAccount; to: PaperAccount },
): Leg[] {
	return [
		{ account: from, chainId, token, amount: -amount },
		{ account: to, chainId, token, amount },
	];
}

function keyOf({ account, chainId, token }: Omit<Leg, "amount">): string {
	return `${account}:${chainId}:${token}`;
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
	sums.set(key, (sums.get(key) ?? 0n) + amount);
}
