import { type SolanaAddress, solanaNativeToken, type Wei } from "@geoswap/protocol";
import type { AuditedSolana } from "./audited-solana.ts";
import { changeOf, type SolanaTransaction } from "./read-solana-transaction.ts";

/** Lamports that the service spent besides payments of orders. */
export type SolanaSpending = {
	fees: bigint;
	/** Lamports in accounts of the program. Closing returns orders' to fee payers, and records' to the vault. */
	locked: bigint;
	/** Lamports in token accounts that were made for others. */
	rent: Wei;
	/** Lamports that were returned with accounts of the program and did not come from the service. */
	found: bigint;
};

/** Transactions of fee payers that are not in the books, because a restored database has lost them. */
export type ForgottenSpending = {
	transactions: number;
	/** Their cost: fees, and the lamports that they put into new accounts. */
	lamports: Wei;
	/** Any other lamports that left fee payers by these transactions. */
	taken: bigint;
};

export function forgottenSpending(
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
export function solanaSpending(
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
