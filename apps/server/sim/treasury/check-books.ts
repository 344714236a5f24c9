import { type Books, bookedBalance, type TokenBook } from "./books.ts";
import type { Market } from "./market.ts";
import type { MoveRow } from "./treasurer.ts";
import { chainOf, type WorldChain } from "./world-chain.ts";
import { native } from "./world-terms.ts";

/** Values by what explains them, in integers of 10^-36 USD, which are never divided. */
export type Explained = Record<
	"swap" | "move" | "opening" | "unattributed" | "declared" | "positions",
	bigint
>;

/** The balances and the state of the books at the last check, from which the next one goes on. */
export type Snapshot = {
	second: number;
	heldByBook: bigint[];
	entriesByBook: number[];
	marksByBook: number[];
};

export const nothingYet: Snapshot = { second: -1, heldByBook: [], entriesByBook: [], marksByBook: [] };

type Truth = {
	second: number;
	books: Books;
	chains: readonly WorldChain[];
	market: Market;
	rows: readonly MoveRow[];
	/** Amounts that strangers transferred, by chain and token. */
	gifts: ReadonlyMap<TokenBook, bigint>;
};

/** A burn that has not arrived after this is one that nobody looks after. Each fault of the bridge ends before. */
const maxArrivalSeconds = 12 * 3_600;

/** Compares books and chains at a block. Each violation begins with the name of what is violated. */
export function checkBooks(truth: Truth, { isReading }: { isReading: boolean }): string[] {
	const { books, chains, gifts, rows, second } = truth;
	const violations: string[] = [];
	for (const book of books.all) {
		const chain = chainOf(chains, book.chain.chainId);
		const name = `${book.chain.name} ${book.token === native ? "ETH" : "USDC"}`;
		const compare = (what: string, booked: bigint, real: bigint) => {
			if (booked !== real) violations.push(`${what}: ${name}: ${booked} in the books, ${real} on the chain`);
		};
		compare("units-close", bookedBalance(book, "inventory"), chain.vault(book.token));
		compare("gifts-only", -(book.balances.get("unattributed") ?? 0n), gifts.get(book) ?? 0n);
		if (book.token !== native) continue;
		compare("units-close", bookedBalance(book, "relayer"), chain.relayerWei());
		compare("gas-once", book.balances.get("gas") ?? 0n, chain.gasPaidWei());
	}
	for (const chain of chains) {
		for (const [moveId, times] of chain.movedTimes()) {
			if (times !== 1) violations.push(`moved-once: ${moveId} ${times} times on ${chain.terms.name}`);
		}
	}
	// After a restore, rows come back with the events. Until then they say nothing about the chains.
	if (isReading) return violations;
	const bridged = rows.filter(
		({ move, state }) => move.kind === "bridge" && (state === "moved" || state === "arrived"),
	);
	const inBooks = books.all.reduce((sum, { balances }) => sum + (balances.get("bridge") ?? 0n), 0n);
	const inRows = bridged.reduce(
		(sum, { move, state }) => sum + (state === "moved" ? move.amount : (move.route?.fee ?? 0n)),
		0n,
	);
	if (inBooks !== inRows)
		violations.push(`bridge-account: ${inBooks} in the books, ${inRows} in transit or paid`);
	for (const { move, state, movedSecond = second } of bridged) {
		if (state === "moved" && second - movedSecond > maxArrivalSeconds) {
			violations.push(
				`mint-arrives: ${move.amount} left chain ${move.chainId} at ${movedSecond}: ${move.moveId}`,
			);
		}
	}
	const known = new Set(rows.map(({ move }) => move.moveId));
	for (const chain of chains) {
		for (const moveId of chain.movedTimes().keys()) {
			if (!known.has(moveId)) violations.push(`known-moves: ${moveId} on ${chain.terms.name} is in no row`);
		}
	}
	return violations;
}

/**
 * Explains the change of all balances' value since a snapshot by entries and marks, and compares the sum with the
 * chains' own balances at the market's prices. The two sums are made apart and must be equal to the last digit.
 */
export function explainValue(
	{ second, books, chains, market }: Truth,
	{ since, explained }: { since: Snapshot; explained: Explained },
): { violations: string[]; snapshot: Snapshot } {
	const violations: string[] = [];
	const snapshot: Snapshot = { second, heldByBook: [], entriesByBook: [], marksByBook: [] };
	let sum36 = 0n;
	let change36 = 0n;
	for (const [i, book] of books.all.entries()) {
		const { token, decimals, entries, marks, chain } = book;
		const symbol = token === native ? "ETH" : "USDC";
		const scale = 10n ** BigInt(18 - decimals);
		const before = since.heldByBook[i] ?? 0n;
		let nextMark = since.marksByBook[i] ?? 0;
		let held = before;
		let price: bigint | undefined = marks[nextMark - 1]?.usdE18;
		const applyMarks = (upTo: number) => {
			for (let mark = marks[nextMark]; mark && mark.second <= upTo; mark = marks[++nextMark]) {
				const positions36 = held * (mark.usdE18 - (price ?? mark.usdE18)) * scale;
				explained.positions += positions36;
				sum36 += positions36;
				price = mark.usdE18;
			}
		};
		for (let e = since.entriesByBook[i] ?? 0; e < entries.length; e++) {
			const entry = entries[e];
			if (!entry) break;
			// An entry in a mark's own block has the new price.
			applyMarks(entry.second);
			if (price !== market.feedE18(symbol, entry.second)) {
				violations.push(
					`marked-postings: ${chain.name} ${symbol} at ${entry.second} by ${entry.cause}: ${price}`,
				);
			}
			const value36 = entry.amount * (price ?? 0n) * scale;
			explained[reasonOf(entry.cause)] += value36;
			sum36 += value36;
			held += entry.amount;
		}
		applyMarks(second);
		const real = chainOf(chains, chain.chainId);
		const now = real.vault(token) + (token === native ? real.relayerWei() : 0n);
		const priceBefore = since.second < 0 ? 0n : market.feedE18(symbol, since.second);
		change36 += (now * market.feedE18(symbol, second) - before * priceBefore) * scale;
		snapshot.heldByBook.push(now);
		snapshot.entriesByBook.push(entries.length);
		snapshot.marksByBook.push(nextMark);
	}
	if (sum36 !== change36) {
		violations.push(`value-explained: ${sum36} by entries and marks, ${change36} by balances, in 10^-36 USD`);
	}
	return { violations: violations.slice(0, 5), snapshot };
}

function reasonOf(cause: string): keyof Explained {
	const [kind = ""] = cause.split(" ");
	return kind as keyof Explained;
}
