import { type SolanaAddress, solanaNativeToken, type Wei } from "@geoswap/protocol";
import type { AuditedSolana } from "./audited-solana.ts";
import type { SolanaTransaction } from "./read-solana-transaction.ts";
import { changeOf } from "./solana-events.ts";

/** Lamports that fee payers spent. */
export type SolanaSpending = {
	fees: bigint;
	/** Comes back when the markers are closed. */
	inMarkers: bigint;
	/** Lamports in accounts that were made for others. */
	rent: Wei;
	/** Lamports that came back with markers and were not ours. */
	found: bigint;
};

/** Transactions of fee payers that are not in the books, because a restored database has forgotten them. */
export type ForgottenSpending = {
	transactions: number;
	/** Their cost: fees, and the lamports that they put into new accounts. */
	lamports: Wei;
	/** Any other lamports that left fee payers by them. */
	taken: bigint;
};

export function forgottenSpending(
	chain: AuditedSolana,
	transactions: readonly SolanaTransaction[],
): ForgottenSpending {
	const sum: ForgottenSpending = { transactions: 0, lamports: 0n, taken: 0n };
	for (const transaction of transactions) {
		if (!chain.feePayers.includes(transaction.feePayer)) continue;
		const { fees, inMarkers, rent } = solanaSpending(chain, [transaction]);
		const spent = -chain.feePayers
			.map((address) => changeOf(transaction, { address, token: solanaNativeToken }))
			.reduce((total, change) => total + change, 0n);
		// Lamports that came back with markers need no explanation.
		const explained = fees + inMarkers + rent;
		sum.transactions++;
		sum.lamports += explained;
		if (spent > explained) sum.taken += spent - explained;
	}
	return sum;
}

/** Returns what our fee payers spent in these transactions. */
export function solanaSpending(
	{ feePayers }: AuditedSolana,
	transactions: readonly SolanaTransaction[],
): SolanaSpending {
	const spending: SolanaSpending = { fees: 0n, inMarkers: 0n, rent: 0n, found: 0n };
	const markers = new Map<SolanaAddress, bigint>();
	for (const transaction of transactions) {
		if (!feePayers.includes(transaction.feePayer)) continue;
		spending.fees += transaction.fee;
		if (transaction.isFailed) continue;
		const change = (address: SolanaAddress) => changeOf(transaction, { address, token: solanaNativeToken });
		const made = transaction.made.map(({ address }) => address);
		for (const address of made) {
			markers.set(address, change(address));
			spending.inMarkers += change(address);
		}
		const { closed } = transaction;
		for (const address of closed) {
			const held = markers.get(address) ?? 0n;
			markers.delete(address);
			spending.inMarkers -= held;
			spending.found += -change(address) - held;
		}
		// A token account that was there before may be the recipient of lamports: those are the output and no rent.
		for (const address of transaction.madeAccounts) {
			if (!made.includes(address)) spending.rent += change(address);
		}
	}
	return spending;
}
