import {
	type Amount,
	accountRentLamports,
	fromSolanaWord,
	inputAddress,
	isSolana,
	type Order,
	orderAddress,
	orderId as orderIdOf,
	type ProgramDeployment,
	programAccountSizes,
	recordAddress,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { type AuditedSolana, holdingOf } from "./audited-solana.ts";
import type { SolanaHistory } from "./order-history.ts";
import type { ProgramCall } from "./program-calls.ts";
import { type ChainEvents, noEvents } from "./read-chain-events.ts";
import { changeOf, type SolanaTransaction } from "./read-solana-transaction.ts";
import type { Finding, Invariant } from "./report.ts";

export type SolanaEvents = {
	/** The events, in the form in which the contracts of EVM chains emit them. */
	events: ChainEvents;
	/** Transactions whose payments differ from the terms of their order. */
	breaches: Finding[];
	/** The number of fills and voids of orders whose terms are unknown to the books and to all audited chains. */
	unknownDecisions: number;
	/** Amounts that came into the vault, or left it, for no known order. */
	unattributed: {
		token: SolanaAddress;
		slot: number;
		amount: Amount;
		/** The accounts that received it, if the vault's owner withdrew it. */
		withdrawnTo?: SolanaAddress[];
	}[];
};

/** An order with the addresses that it has in the program. */
type Placed = {
	orderId: Hex;
	order: Order;
	/** The order's account if it begins on Solana, else its record. */
	account: SolanaAddress;
	/** The token account of the input. Undefined if the order begins elsewhere. */
	input: SolanaAddress | undefined;
};

/** The change of each account that the orders of a transaction require, by address. */
type Due = Map<SolanaAddress, { address: SolanaAddress; token: SolanaAddress; amount: Amount }>;

/** Returns what happened to orders in the program, by the instructions and changed balances of final transactions. */
export async function solanaEvents(
	chain: AuditedSolana,
	{
		transactions,
		gifts,
		orders,
		returned,
	}: Pick<SolanaHistory, "transactions" | "gifts"> & {
		/** All orders that are known anywhere, because an account in the program does not have all terms of its order. */
		orders: Iterable<Order>;
		/**
		 * Accounts whose rent is booked as returned. Anyone can close an account. Until its rent is booked, it counts as a
		 * gift.
		 */
		returned: ReadonlySet<SolanaAddress>;
	},
): Promise<SolanaEvents> {
	const { chainId, accounts, feePayers, deployment } = chain;
	const { vault } = deployment.program;
	const found: SolanaEvents = {
		events: noEvents(),
		breaches: [],
		unknownDecisions: 0,
		unattributed: accounts.flatMap(({ token, address }) =>
			(gifts.get(address) ?? []).map((gift) => ({ token, ...gift })),
		),
	};
	const placed = await Promise.all(
		ordersOf(chain, orders).map((order) => placeOrder(deployment.program, order)),
	);
	const byAddress = new Map(placed.map((one) => [one.account, one]));
	const calls = transactions.flatMap((transaction) => transaction.calls);
	const opened = new Set(calls.filter(({ name }) => name === "open").map(addressIn));
	const paid = new Set<SolanaAddress>();
	for (const transaction of transactions) await judge(transaction);
	return found;

	async function judge(transaction: SolanaTransaction): Promise<void> {
		const due: Due = new Map();
		let orderId: Hex | undefined;
		for (const call of transaction.calls) {
			const one = byAddress.get(addressIn(call));
			if (call.name === "close-record") {
				if (returned.has(addressIn(call))) takeRent(transaction, { record: addressIn(call), due });
			} else if (one) {
				orderId ??= one.orderId;
				await takeCall(transaction, { call, one, due });
			} else if (call.name === "fill" || call.name === "void") {
				found.unknownDecisions++;
				const what = call.name === "fill" ? "filled" : "voided";
				breach(transaction, "I3", `an order that nobody knows was ${what}`);
			}
		}
		const withdrawnTo = transaction.calls.flatMap(({ name, accounts: [, , to] }) =>
			name === "withdraw" && to ? [to] : [],
		);
		const isWithdrawn = withdrawnTo.length > 0;
		// No stranger can add to the service's transactions, so every change in an order's transaction must be the order's.
		const isStrict = orderId !== undefined && !isWithdrawn && feePayers.includes(transaction.feePayer);
		for (const { token, address } of accounts) {
			const amount = changeOf(transaction, { token, address }) - (due.get(address)?.amount ?? 0n);
			if (amount === 0n) continue;
			if (isStrict)
				breach(transaction, "I3", `the vault has ${amount} of ${token} too many or too few`, orderId);
			else {
				const { slot } = transaction;
				found.unattributed.push({ token, slot, amount, ...(isWithdrawn && { withdrawnTo }) });
			}
		}
		if (!isStrict) return;
		for (const { address, token, amount } of due.values()) {
			const actual = changeOf(transaction, { address, token });
			if (accounts.some((account) => account.address === address) || actual === amount) continue;
			breach(transaction, "I4", `the wallet's ${token} changed by ${actual} and not by ${amount}`, orderId);
		}
	}

	async function takeCall(
		transaction: SolanaTransaction,
		{
			call: { name, accounts: named },
			one: { orderId, order, account, input },
			due,
		}: { call: ProgramCall; one: Placed; due: Due },
	): Promise<void> {
		const { slot, lamports, tokens } = transaction;
		const at = { chainId, block: slot, orderId };
		switch (name) {
			case "open":
				found.events.opened.push({ ...at, order });
				add(due, await holdingOf(order.wallet, order.inputToken), -order.inputAmount);
				return;
			case "fill": {
				const received = changeOf(transaction, await holdingOf(order.recipient, order.outputToken));
				const toppedUp = toppedUpBy(transaction, order);
				const isOfSol = fromSolanaWord(order.outputToken) === solanaNativeToken;
				const delivered = received - (isOfSol ? toppedUp : 0n);
				found.events.filled.push({ ...at, delivered });
				add(due, await holdingOf(order.destinationVault, order.outputToken), -delivered);
				add(due, { address: vault, token: solanaNativeToken }, -toppedUp);
				if (toppedUp !== 0n && toppedUp !== order.topUp) {
					breach(transaction, "I3", `the top-up was ${toppedUp} and not ${order.topUp}`, orderId);
				}
				if (!isSolana(order.originChainId)) takeRent(transaction, { record: account, due });
				return;
			}
			case "void":
				found.events.voided.push(at);
				takeRent(transaction, { record: account, due });
				return;
			case "pay": {
				const token = fromSolanaWord(order.inputToken);
				const isNative = token === solanaNativeToken;
				// For an order that was never opened, the amount that has arrived is returned.
				if (!opened.has(account)) return;
				const isClosed = transaction.calls.some(
					(call) => call.name === "close" && addressIn(call) === account,
				);
				const rent = isClosed ? accountRentLamports(programAccountSizes.order) : 0n;
				const left = isNative ? -(lamports.get(account) ?? 0n) - rent : -(tokens.get(input ?? account) ?? 0n);
				const inVault = await holdingOf(order.originVault, order.inputToken);
				const isReleased = named[1] === inVault.address;
				add(due, isReleased ? inVault : { address: named[1] as SolanaAddress, token }, left);
				// SOL that arrives after the payment is paid again.
				if (isNative && paid.has(account)) {
					if (isReleased) found.unattributed.push({ token, slot, amount: left });
					return;
				}
				paid.add(account);
				if (left < order.inputAmount) {
					breach(transaction, "I4", `only ${left} of ${order.inputAmount} was paid`, orderId);
				}
				found.events[isReleased ? "released" : "refunded"].push({ ...at, paid: true });
				// Anyone can add to what an order's account holds.
				if (isReleased && left > order.inputAmount) {
					found.unattributed.push({ token, slot, amount: left - order.inputAmount });
				}
				return;
			}
		}
	}

	/** Adds the rent of a record, which the vault pays or gets back. */
	function takeRent(
		{ lamports }: SolanaTransaction,
		{ record, due }: { record: SolanaAddress; due: Due },
	): void {
		add(due, { address: vault, token: solanaNativeToken }, -(lamports.get(record) ?? 0n));
	}

	function breach({ slot }: SolanaTransaction, invariant: Invariant, message: string, orderId?: Hex): void {
		const at = `${message} in slot ${slot}`;
		found.breaches.push({ invariant, message: at, chainIds: [chainId], ...(orderId && { orderId }) });
	}
}

/**
 * Returns the lamports that a fill paid as a top-up. The program pays an output of SOL only to a recipient that can hold
 * both, so the top-up is part of what it got. With another output, the recipient gets no other lamports.
 */
function toppedUpBy(transaction: SolanaTransaction, { recipient, outputToken, topUp }: Order): Amount {
	if (topUp === 0n || fromSolanaWord(outputToken) === solanaNativeToken) return topUp;
	return changeOf(transaction, { address: fromSolanaWord(recipient), token: solanaNativeToken });
}

/** Returns the account of an order that a call is about. */
function addressIn({ name, accounts }: ProgramCall): SolanaAddress {
	return accounts[name === "fill" || name === "void" ? 2 : 0] as SolanaAddress;
}

function add(due: Due, account: { address: SolanaAddress; token: SolanaAddress }, amount: Amount): void {
	due.set(account.address, { ...account, amount: (due.get(account.address)?.amount ?? 0n) + amount });
}

/** Returns the orders that are from or to the program. */
function ordersOf({ chainId, deployment: { program } }: AuditedSolana, orders: Iterable<Order>): Order[] {
	return [...orders].filter(({ originChainId, destinationChainId, escrow, destinationVault }) =>
		originChainId === BigInt(chainId)
			? escrow === toSolanaWord(program.address)
			: destinationChainId === BigInt(chainId) && destinationVault === toSolanaWord(program.vault),
	);
}

/** Cache of places. Deriving addresses takes milliseconds, and each audit needs those of all orders again. */
const places = new WeakMap<Order, Promise<Placed>>();

function placeOrder({ address: program }: ProgramDeployment, order: Order): Promise<Placed> {
	const known = places.get(order);
	if (known) return known;
	const placed = (async () => {
		const orderId = orderIdOf(order);
		const isOrigin = isSolana(order.originChainId);
		const [account, input] = await Promise.all([
			(isOrigin ? orderAddress : recordAddress)(program, orderId),
			isOrigin ? inputAddress(program, orderId) : undefined,
		]);
		return { orderId, order, account, input };
	})();
	places.set(order, placed);
	return placed;
}
