import type { Amount } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Holding } from "./journal.ts";
import type { Entry, PaperLedger } from "./paper-ledger.ts";

type Of = { chainId: number; token: Hex };

/** The vaults' inventory on paper, by token. */
export type PaperInventory = {
	held: (of: Of) => Amount;
	/** Returns what is held and not reserved. */
	free: (of: Of) => Amount;
	inEscrow: (of: Of) => Amount;
	start: (of: Of) => Amount;
	minFree: (of: Of) => Amount;
	most: (of: Of) => Amount;
	/** Reserves an amount, or gives back a negative one. */
	reserve: (of: Of, amount: Amount) => void;
};

/**
 * Returns the inventory of these books, and the function to book with, which also updates the lowest and highest
 * amounts.
 */
export function createPaperInventory({
	books,
	opening,
}: {
	books: PaperLedger;
	opening: readonly Holding[];
}): {
	inventory: PaperInventory;
	post: (entry: Entry) => void;
} {
	const reserved = new Map<string, Amount>();
	const starts = new Map(opening.map((holding) => [keyOf(holding), holding.amount]));
	const least = new Map(starts);
	const most = new Map(starts);
	const start = (of: Of) => starts.get(keyOf(of)) ?? 0n;
	const held = ({ chainId, token }: Of) => books.balance("inventory", chainId, token);
	const free = (of: Of) => held(of) - (reserved.get(keyOf(of)) ?? 0n);

	return {
		inventory: {
			held,
			free,
			start,
			inEscrow: ({ chainId, token }) => books.balance("escrow", chainId, token),
			minFree: (of) => least.get(keyOf(of)) ?? 0n,
			most: (of) => most.get(keyOf(of)) ?? 0n,
			reserve: (of, amount) => {
				reserved.set(keyOf(of), (reserved.get(keyOf(of)) ?? 0n) + amount);
				note(of);
			},
		},
		post: (entry) => {
			books.post(entry);
			for (const leg of entry.legs) if (leg.account === "inventory") note(leg);
		},
	};

	function note(of: Of): void {
		const key = keyOf(of);
		if (free(of) < (least.get(key) ?? 0n)) least.set(key, free(of));
		if (held(of) > (most.get(key) ?? 0n)) most.set(key, held(of));
	}
}

function keyOf({ chainId, token }: Of): string {
	return `${chainId}:${token}`;
}
