import {
	fromSolanaWord,
	greater,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedSolana } from "../read/audited-solana.ts";
import type { SolanaHistory } from "../read/order-history.ts";
import type { DeclaredFlow, SolanaBooks } from "../read/read-books.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import { changeOf, type SolanaTransaction } from "../read/read-solana-transaction.ts";
import type { ChainReport, Finding, TokenReport } from "../read/report.ts";
import type { SolanaEvents } from "../read/solana-events.ts";

export type SolanaReading = {
	/** The final slot at which the service's accounts held `holdings`. `transactions` is complete up to it. */
	slot: number;
	holdings: ReadonlyMap<SolanaAddress, bigint>;
} & Pick<SolanaHistory, "transactions" | "gifts" | "undecodable">;

/**
 * I2 on Solana, at the slot up to which it is booked: the vault holds what the books account for, and the books
 * contain, to the unit, the inputs of open orders, what moved without an order and what the service spent. Comparing
 * books with balances is not enough, because the books post unexplained amounts as `unattributed`.
 */
export function checkSolanaBalances(
	chain: AuditedSolana,
	{
		slot,
		reading,
		events: { events, unattributed },
		books,
		flows,
	}: {
		slot: number;
		reading: SolanaReading;
		events: SolanaEvents;
		books: SolanaBooks;
		flows: readonly DeclaredFlow[];
	},
): { report: ChainReport; breaches: Finding[] } {
	const { chainId, deployment } = chain;
	const breaches: Finding[] = [];
	const breach = (token: SolanaAddress, message: string) =>
		breaches.push({ invariant: "I2", message, chainIds: [chainId], token });
	/**
	 * Reports a difference. It pauses nothing if some strangers' transactions cannot be decoded, because these may
	 * explain the difference and cannot take anything from the vault.
	 */
	const breachIfDecoded = (token: SolanaAddress, message: string) => {
		if (reading.undecodable === 0) return breach(token, message);
		const by = `${message}; ${reading.undecodable} transactions of others cannot be decoded`;
		return breaches.push({ invariant: "I2", message: by, chainIds: [chainId], token, pauses: false });
	};
	const isBooked = (at: { slot: number }) => at.slot > books.openingSlot && at.slot <= slot;
	const strays = unattributed.filter(isBooked);
	for (const { token, slot: at, amount, withdrawnTo } of strays) {
		// Withdrawals are compared with what was declared.
		if (amount >= 0n || withdrawnTo) continue;
		breach(token, `${-amount} of ${token} left the vault on Solana for no order, in slot ${at}`);
	}
	const isForgotten = ({ feePayer, signature }: SolanaTransaction) =>
		chain.feePayers.includes(feePayer) && !books.written.has(signature);
	const booked = reading.transactions.filter(isBooked);
	const known = booked.filter((transaction) => !isForgotten(transaction));
	const spending = solanaSpending(chain, { transactions: known, returned: books.returned });
	const forgotten = forgottenSpending(chain, booked.filter(isForgotten));

	const tokens = deployment.assets.map(({ address: token, symbol }): TokenReport => {
		const owed = owedAt(events, { token, slot });
		const inventoryActual = heldAt(chain, reading, { token, slot });
		const bookedIn = (account: string) => bookedAs(books, { account, token });
		const inventoryBooked = bookedIn("inventory");
		const unbooked = inventoryActual - inventoryBooked;
		if (unbooked < 0n) {
			breach(token, `the vault on Solana holds ${-unbooked} ${symbol} less than in the books`);
		}
		// The books do not contain inputs of orders that were opened before the opening slot.
		const openedSince = owed - owedAt(events, { token, slot: books.openingSlot });
		if (openedSince !== bookedIn("escrow")) {
			const message = `${bookedIn("escrow")} ${symbol} is booked as escrow on Solana, but open orders have ${openedSince}`;
			breachIfDecoded(token, message);
		}
		const found = token === solanaNativeToken ? spending.found : 0n;
		const strayed = sum(strays.filter((stray) => stray.token === token).map(({ amount }) => amount)) + found;
		const strayBooked = -bookedIn("unattributed") - bookedIn("treasury");
		const strayHeld = strayBooked + unbooked;
		const message = `${strayBooked} ${symbol} is booked as no order's on Solana, but ${strayed} is`;
		if (strayHeld < strayed) breach(token, message);
		if (strayHeld > strayed) breachIfDecoded(token, message);
		return {
			token,
			symbol,
			escrowExpected: String(owed),
			escrowActual: String(owed),
			inventoryBooked: String(inventoryBooked),
			inventoryActual: String(inventoryActual),
			donated: "0",
			unbooked: String(greater(unbooked, 0n)),
		};
	});

	const { fees, locked, rent } = spending;
	for (const [account, spent] of [
		["gas", fees],
		["locked", locked],
		["rent", rent],
	] as const) {
		const sumBooked = bookedAs(books, { account, token: solanaNativeToken });
		if (sumBooked !== spent) {
			const message = `${sumBooked} lamports are booked as ${account} on Solana, but it is ${spent}`;
			breach(solanaNativeToken, message);
		}
	}
	const payers = new Set(chain.feePayers.map((feePayer) => toSolanaWord(feePayer)));
	const declared = sum(
		flows
			.filter(
				({ kind, chainId: id, holder }) => kind === "withdrawal" && id === chainId && payers.has(holder),
			)
			.map(({ amount }) => amount),
	);
	if (forgotten.taken > declared) {
		const message = `${forgotten.taken - declared} lamports left fee payers on Solana by transactions that are not in the books`;
		breaches.push({ invariant: "T3", message, chainIds: [chainId], token: solanaNativeToken });
	}
	if (forgotten.transactions > 0) {
		const what = `${forgotten.lamports} lamports were spent on Solana by ${forgotten.transactions} transactions`;
		const message = `${what} that are not in the books, as after a restore from an old backup`;
		const token = solanaNativeToken;
		breaches.push({ invariant: "I2", message, chainIds: [chainId], token, pauses: false });
	}
	const lamports = { fees: String(fees), locked: String(locked), rent: String(rent) };
	return { report: { chainId, block: slot, tokens, lamports }, breaches };
}

/** Returns the vault's balance at the end of a slot: its later balance minus the changes in between. */
function heldAt(
	chain: AuditedSolana,
	{ holdings, transactions, gifts }: SolanaReading,
	{ token, slot }: { token: SolanaAddress; slot: number },
): bigint {
	const account = chain.accounts.find((one) => one.token === token);
	if (!account) throw new Error(`the vault has no account for ${token}`);
	const isSince = (one: { slot: number }) => one.slot > slot;
	const changed = sum(transactions.filter(isSince).map((transaction) => changeOf(transaction, account)));
	const given = sum((gifts.get(account.address) ?? []).filter(isSince).map(({ amount }) => amount));
	return (holdings.get(account.address) ?? 0n) - changed - given;
}

/** Returns the total input of orders that are open at the end of a slot. */
function owedAt(
	{ opened, released, refunded }: ChainEvents,
	{ token, slot }: { token: SolanaAddress; slot: number },
): bigint {
	const isThen = (event: { block: number }) => event.block <= slot;
	const decided = new Set([...released, ...refunded].filter(isThen).map(({ orderId }) => orderId));
	return sum(
		opened
			.filter(isThen)
			.filter(({ orderId, order }) => !decided.has(orderId) && fromSolanaWord(order.inputToken) === token)
			.map(({ order }) => order.inputAmount),
	);
}

function bookedAs(
	{ sums }: SolanaBooks,
	{ account, token }: { account: string; token: SolanaAddress },
): bigint {
	const word: Hex = toSolanaWord(token);
	return sum(sums.filter((one) => one.account === account && one.token === word).map(({ amount }) => amount));
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}

/** Lamports that the service spent besides payments of orders. */
type SolanaSpending = {
	fees: bigint;
	/** Lamports in accounts of the program. Closing returns orders' to fee payers, and records' to the vault. */
	locked: bigint;
	/** Lamports in token accounts that were made for others. */
	rent: Wei;
	/** Lamports that were returned with accounts of the program and did not come from the service. */
	found: bigint;
};

/** Transactions of fee payers that are not in the books, because a restored database has lost them. */
type ForgottenSpending = {
	transactions: number;
	/** Their cost: fees, and the lamports that they put into new accounts. */
	lamports: Wei;
	/** Any other lamports that left fee payers by these transactions. */
	taken: bigint;
};

function forgottenSpending(
	chain: AuditedSolana,
	transactions: readonly SolanaTransaction[],
): ForgottenSpending {
	const sum: ForgottenSpending = { transactions: 0, lamports: 0n, taken: 0n };
	for (const transaction of transactions) {
		const { fees, locked, rent } = solanaSpending(chain, {
			transactions: [transaction],
			returned: new Set(),
		});
		const spent = -chain.feePayers
			.map((address) => changeOf(transaction, { address, token: solanaNativeToken }))
			.reduce((total, change) => total + change, 0n);
		// Returned lamports need no explanation.
		const explained = fees + locked + rent;
		sum.transactions++;
		sum.lamports += explained;
		if (spent > explained) sum.taken += spent - explained;
	}
	return sum;
}

/** Returns what the service spent in those transactions that its fee payers paid for, and what was returned. */
function solanaSpending(
	{ feePayers }: AuditedSolana,
	{
		transactions,
		returned,
	}: {
		transactions: readonly SolanaTransaction[];
		/** Accounts whose rent is booked as returned. Anyone can close an account. */
		returned: ReadonlySet<SolanaAddress>;
	},
): SolanaSpending {
	const spending: SolanaSpending = { fees: 0n, locked: 0n, rent: 0n, found: 0n };
	const locked = new Map<SolanaAddress, bigint>();
	for (const transaction of transactions) {
		const change = (address: SolanaAddress) => changeOf(transaction, { address, token: solanaNativeToken });
		for (const { name, accounts } of transaction.calls) {
			const [closed] = accounts;
			if (!closed || !returned.has(closed) || (name !== "close" && name !== "close-record")) continue;
			const held = locked.get(closed) ?? 0n;
			locked.delete(closed);
			spending.locked -= held;
			spending.found += returnedBy(transaction, { closed, held }) - held;
		}
		if (!feePayers.includes(transaction.feePayer)) continue;
		spending.fees += transaction.fee;
		if (transaction.isFailed) continue;
		const inputs = new Set<SolanaAddress>();
		for (const { name, accounts } of transaction.calls) {
			const [first, second, third] = accounts as SolanaAddress[];
			if (name === "open" && first) {
				// The fee payer pays for nothing else in a transaction that opens an order. The rent of the order's token
				// account is returned with the order's own.
				lock(first, -change(transaction.feePayer) - transaction.fee);
				if (second) inputs.add(second);
			}
			// Within Solana the third account is the order itself, which the same transaction pays.
			const isRecord = !transaction.calls.some((call) => call.name === "pay" && call.accounts[0] === third);
			if ((name === "fill" || name === "void") && third && isRecord) lock(third, change(third));
		}
		// A token account that existed before may receive lamports, which are the output and not rent.
		for (const address of transaction.madeAccounts) {
			if (!inputs.has(address)) spending.rent += change(address);
		}
	}
	return spending;

	/** Returns the lamports that came back with an account, without those that were paid to an order's owner. */
	function returnedBy(
		transaction: SolanaTransaction,
		{ closed, held }: { closed: SolanaAddress; held: bigint },
	): bigint {
		const change = (address: SolanaAddress) => changeOf(transaction, { address, token: solanaNativeToken });
		const payment = transaction.calls.find(({ name, accounts }) => name === "pay" && accounts[0] === closed);
		if (!payment) return -change(closed);
		const [, , input] = payment.accounts;
		// An order of SOL holds only its rent by then. A token account's rent is returned through the order's own account.
		return input ? -change(closed) - change(input) : held;
	}

	function lock(address: SolanaAddress, lamports: bigint): void {
		locked.set(address, lamports);
		spending.locked += lamports;
	}
}
