import type { Hex } from "viem";
import { type Cause, entriesOf, type WorldEntry, type WorldEvent } from "./world-event.ts";
import { type ChainTerms, native } from "./world-terms.ts";

/** Accounts whose balance is ours, so their entries are what a day's result consists of. */
export type OwnAccount = "inventory" | "relayer" | "credit:vault";
const ownAccounts: readonly string[] = ["inventory", "relayer", "credit:vault"] satisfies OwnAccount[];

/** An entry in an account of ours. Kept per chain and token, in the order of blocks. */
type OwnEntry = { second: number; amount: bigint; cause: Cause };
type Mark = { second: number; usdE18: bigint };

/** The books of one token on one chain. */
export type TokenBook = {
	chain: ChainTerms;
	token: Hex;
	decimals: number;
	entries: OwnEntry[];
	marks: Mark[];
	balances: Map<WorldEntry["account"], bigint>;
};

export type Books = {
	of: (chainId: number, token: Hex) => TokenBook;
	all: readonly TokenBook[];
	/** Books what a chain emitted. */
	record: (event: WorldEvent) => void;
	/** Books the gas of one transaction, which did the work of some swaps or of a move. */
	recordGas: (spent: { chainId: number; second: number; costWei: bigint; causes: readonly Cause[] }) => void;
	post: (posting: { chainId: number; second: number; cause: Cause; entries: readonly WorldEntry[] }) => void;
	/** Gas by swap and move, which the result of each swap contains. */
	gasOfCauses: () => bigint;
};

export function createBooks(chains: readonly ChainTerms[]): Books {
	const all = chains.flatMap((chain) => [tokenBook(chain, chain.usdc, 6), tokenBook(chain, native, 18)]);
	const byToken = new Map(all.map((book) => [`${book.chain.chainId} ${book.token}`, book]));
	const assets = new Map(chains.map((chain) => [chain.chainId, [chain.usdc, native]]));
	const termsOf = new Map(chains.map((chain) => [chain.chainId, chain]));
	let gasWei = 0n;

	const of = (chainId: number, token: Hex) => {
		const book = byToken.get(`${chainId} ${token.toLowerCase()}`);
		if (!book) throw new Error(`no book of ${token} on ${chainId}`);
		return book;
	};
	const post: Books["post"] = ({ chainId, second, cause, entries }) => {
		let sum = 0n;
		for (const { account, token, amount } of entries) {
			const book = of(chainId, token);
			book.balances.set(account, (book.balances.get(account) ?? 0n) + amount);
			if (ownAccounts.includes(account)) book.entries.push({ second, amount, cause });
			sum += amount;
		}
		if (sum !== 0n) throw new Error(`a posting of ${cause} adds up to ${sum}`);
	};
	return {
		of,
		all,
		post,
		gasOfCauses: () => gasWei,
		record: (event) => {
			const { chainId, second, cause } = event;
			const entries = entriesOf(event, {
				vault: termsOf.get(chainId)?.vault ?? "0x",
				relayer: termsOf.get(chainId)?.relayer ?? "0x",
				assets: assets.get(chainId) ?? [],
				native,
			});
			post({ chainId, second, cause, entries });
		},
		recordGas: ({ chainId, second, costWei, causes }) => {
			const share = costWei / BigInt(causes.length);
			for (const [i, cause] of causes.entries()) {
				// The first takes the remainder.
				const amount = i === 0 ? costWei - share * BigInt(causes.length - 1) : share;
				gasWei += amount;
				post({
					chainId,
					second,
					cause,
					entries: [
						{ account: "gas", token: native, amount },
						{ account: "relayer", token: native, amount: -amount },
					],
				});
			}
		},
	};
}

function tokenBook(chain: ChainTerms, token: Hex, decimals: number): TokenBook {
	return { chain, token, decimals, entries: [], marks: [], balances: new Map() };
}

/** Returns what the books say is held in a vault or by a relayer. */
export function bookedBalance({ balances }: TokenBook, account: OwnAccount): bigint {
	return balances.get(account) ?? 0n;
}
