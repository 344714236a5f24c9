import {
	fromSolanaWord,
	greater,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedSolana, Holder } from "../read/audited-solana.ts";
import type { SolanaBooks } from "../read/read-books.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { SolanaTransaction } from "../read/read-solana-transaction.ts";
import type { ChainReport, Finding, TokenReport } from "../read/report.ts";
import { changeOf, type SolanaEvents } from "../read/solana-events.ts";
import type { SolanaHistory } from "../read/solana-history.ts";
import { forgottenSpending, solanaSpending } from "../read/solana-spending.ts";

export type SolanaReading = {
	/** The final slot at which our accounts held `holdings`. `transactions` has all that concern them up to it. */
	slot: number;
	holdings: ReadonlyMap<SolanaAddress, bigint>;
} & Pick<SolanaHistory, "transactions" | "gifts" | "undecodable">;

/**
 * I1 and I2 on Solana, at the slot up to which it is booked: escrow and vault hold what orders and books account for,
 * and the books contain, to the unit, what moved without an order and what fee payers spent. Comparing books with
 * balances is not enough, because the books post what they cannot explain as `unattributed`.
 */
export function checkSolanaBalances(
	chain: AuditedSolana,
	{
		slot,
		reading,
		events: { events, unattributed },
		books,
	}: { slot: number; reading: SolanaReading; events: SolanaEvents; books: SolanaBooks },
): { report: ChainReport; breaches: Finding[] } {
	const { chainId, deployment } = chain;
	const breaches: Finding[] = [];
	const breach = (invariant: "I1" | "I2", token: SolanaAddress, message: string) =>
		breaches.push({ invariant, message, chainIds: [chainId], token });
	/** Strangers may give us tokens by transactions that cannot be decoded. Nobody can take any that way. */
	const surplus = (invariant: "I1" | "I2", token: SolanaAddress, message: string) => {
		if (reading.undecodable === 0) return breach(invariant, token, message);
		const by = `${message}; ${reading.undecodable} transactions of others cannot be decoded`;
		return breaches.push({ invariant, message: by, chainIds: [chainId], token, pauses: false });
	};
	const isBooked = (at: { slot: number }) => at.slot > books.openingSlot && at.slot <= slot;
	const strays = unattributed.filter(isBooked);
	for (const { holder, token, slot: at, amount, isRefund } of strays) {
		if (amount >= 0n || isRefund) continue;
		const invariant = holder === "escrow" ? "I1" : "I2";
		breach(
			invariant,
			token,
			`${-amount} of ${token} left the ${holder} on Solana for no order, in slot ${at}`,
		);
	}
	const isWritten = ({ signature }: SolanaTransaction) => books.written.has(signature);
	const spending = solanaSpending(chain, reading.transactions.filter(isBooked).filter(isWritten));
	const forgotten = forgottenSpending(
		chain,
		reading.transactions.filter((transaction) => isBooked(transaction) && !isWritten(transaction)),
	);

	const tokens = deployment.assets.map(({ address: token, symbol }): TokenReport => {
		const escrowActual = heldAt(chain, reading, { holder: "escrow", token, slot });
		const stockActual = heldAt(chain, reading, { holder: "vault", token, slot });
		const booked = (account: string, posting?: string) => bookedAs(books, { account, token, posting });
		// The balance that belonged to no order when the books began, plus what came for no order since.
		const notOrders =
			booked("escrow", "opening") -
			owedAt(events, { token, slot: books.openingSlot }) +
			booked("escrow", "unattributed");
		const escrowExpected = owedAt(events, { token, slot }) + notOrders;
		const donated = escrowActual - escrowExpected;
		if (donated < 0n) breach("I1", token, `the escrow on Solana is short of ${-donated} ${symbol}`);
		// Strangers' transfers are booked as `unattributed`, so any surplus was taken from someone.
		if (donated > 0n) surplus("I1", token, `the escrow on Solana holds ${donated} ${symbol} too many`);
		const stockBooked = booked("stock");
		const unbooked = stockActual - stockBooked;
		if (unbooked < 0n)
			breach("I2", token, `the vault on Solana holds ${-unbooked} ${symbol} less than the books say`);
		const escrowUnbooked = escrowActual - booked("escrow");
		if (escrowUnbooked < 0n) {
			breach("I2", token, `the escrow on Solana holds ${-escrowUnbooked} ${symbol} less than the books say`);
		}
		const found = token === solanaNativeToken ? spending.found : 0n;
		const strayed = sum(strays.filter((stray) => stray.token === token).map(({ amount }) => amount)) + found;
		const strayBooked = -booked("unattributed");
		const strayHeld = strayBooked + unbooked + escrowUnbooked;
		if (strayHeld !== strayed) {
			const message = `${strayBooked} ${symbol} is booked as no order's on Solana, but ${strayed} is`;
			if (strayHeld > strayed) surplus("I2", token, message);
			else breach("I2", token, message);
		}
		return {
			token,
			symbol,
			escrowExpected: String(escrowExpected),
			escrowActual: String(escrowActual),
			stockBooked: String(stockBooked),
			stockActual: String(stockActual),
			donated: String(greater(donated, 0n)),
			unbooked: String(greater(unbooked, 0n)),
		};
	});

	const { fees, inMarkers, rent } = spending;
	for (const [account, spent] of [
		["gas", fees],
		["marker", inMarkers],
		["rent", rent],
	] as const) {
		const booked = bookedAs(books, { account, token: solanaNativeToken });
		if (booked !== spent) {
			const message = `${booked} lamports are booked as ${account} on Solana, but it is ${spent}`;
			breach("I2", solanaNativeToken, message);
		}
	}
	if (forgotten.taken > 0n) {
		breach(
			"I2",
			solanaNativeToken,
			`${forgotten.taken} lamports left fee payers on Solana by transactions that are not in the books`,
		);
	}
	if (forgotten.transactions > 0) {
		const what = `${forgotten.lamports} lamports were spent on Solana by ${forgotten.transactions} transactions`;
		const message = `${what} that are not in the books, as after a restore from an old backup`;
		const token = solanaNativeToken;
		breaches.push({ invariant: "I2", message, chainIds: [chainId], token, pauses: false });
	}
	const lamports = { fees: String(fees), inMarkers: String(inMarkers), rent: String(rent) };
	return { report: { chainId, block: slot, tokens, lamports }, breaches };
}

/** Returns the balance of our account at the end of a slot: its later balance minus the changes in between. */
function heldAt(
	chain: AuditedSolana,
	{ holdings, transactions, gifts }: SolanaReading,
	{ holder, token, slot }: { holder: Holder; token: SolanaAddress; slot: number },
): bigint {
	const account = chain.accounts.find((one) => one.holder === holder && one.token === token);
	if (!account) throw new Error(`the ${holder} has no account for ${token}`);
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
	{ account, token, posting }: { account: string; token: SolanaAddress; posting?: string | undefined },
): bigint {
	const word: Hex = toSolanaWord(token);
	return sum(
		sums
			.filter((one) => one.account === account && one.token === word)
			.filter((one) => posting === undefined || one.posting === posting)
			.map(({ amount }) => amount),
	);
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}
