import {
	type Amount,
	isSolana,
	markerSeed,
	type Order,
	orderId as orderIdOf,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { type AuditedSolana, type Holder, holdingOf } from "./audited-solana.ts";
import { type ChainEvents, noEvents } from "./read-chain-events.ts";
import type { SolanaTransaction } from "./read-solana-transaction.ts";
import type { Finding, Invariant } from "./report.ts";
import type { SolanaHistory } from "./solana-history.ts";
import type { PaymentSource } from "./solana-instructions.ts";
import type { MadeMarker } from "./solana-markers.ts";

export type SolanaEvents = {
	/** The events, in the form in which contracts of other chains emit them. */
	events: ChainEvents;
	/** Transactions whose payments differ from the terms of their order. */
	breaches: Finding[];
	/** The number of decided orders with unknown terms: they are neither in the books nor on any audited chain. */
	unknownDecisions: number;
	/** Transfers into or out of escrow and vault that belong to no known order. */
	unattributed: {
		holder: Holder;
		token: SolanaAddress;
		slot: number;
		amount: Amount;
		/** True if it was paid back to its source, with the order's marker or memo. */
		isRefund?: true;
	}[];
	/** Inputs of orders whose terms nobody knows. */
	deposits: UnknownDeposit[];
};

/** An input that came in for an order of ours that is in no books, as after a restore from an old backup. */
type UnknownDeposit = PaymentSource & {
	orderId: Hex;
	signature: Hex;
	slot: number;
	token: SolanaAddress;
	amount: Amount;
	isRefunded: boolean;
};

/** Returns what happened to orders on Solana, by the markers, memos and transfers of final transactions. */
export async function solanaEvents(
	chain: AuditedSolana,
	{
		transactions,
		gifts,
		orders,
	}: Pick<SolanaHistory, "transactions" | "gifts"> & {
		/** All orders that are known anywhere: Solana does not record an order's terms. */
		orders: Iterable<Order>;
	},
): Promise<SolanaEvents> {
	const found: SolanaEvents = {
		events: noEvents(),
		breaches: [],
		unknownDecisions: 0,
		unattributed: chain.accounts.flatMap(({ holder, token, address }) =>
			(gifts.get(address) ?? []).map((gift) => ({ holder, token, ...gift })),
		),
		deposits: [],
	};
	const known = new Map(
		[...orders].map((order) => [orderIdOf(order), { orderId: orderIdOf(order), order }] as const),
	);
	const bySeed = new Map([...known.values()].map((entry) => [markerSeed(entry.orderId), entry]));
	for (const transaction of transactions) {
		if (transaction.isFailed) continue;
		const breach = (invariant: Invariant, message: string, orderId?: Hex) =>
			found.breaches.push({
				invariant,
				message: `${message} in slot ${transaction.slot}`,
				chainIds: [chain.chainId],
				...(orderId ? { orderId } : {}),
			});
		const markers = transaction.made;
		if (markers.length > 1) breach("I3", `${markers.length} orders were decided by one transaction`);
		const memo = depositMemo(chain, transaction);
		const deposited = memo === undefined ? undefined : known.get(memo);
		const due: Due = new Map();
		let orderId: Hex | undefined;
		if (deposited && markers.length === 0) {
			orderId = deposited.orderId;
			await addDeposit(chain, { transaction, ...deposited, due, found });
		}
		const byHand = markers.length === 0 && !deposited && paidBackByHand(chain, transaction, found.deposits);
		if (byHand) {
			orderId = byHand.orderId;
			refundUnknown(chain, { transaction, given: byHand, due, found });
		}
		for (const marker of markers) {
			const decided = bySeed.get(marker.seed);
			if (decided) {
				orderId = decided.orderId;
				await addDecision(chain, { transaction, marker, ...decided, due, found });
				continue;
			}
			const given = found.deposits.find((deposit) => markerSeed(deposit.orderId) === marker.seed);
			const isRefund = (deposit: UnknownDeposit) =>
				marker.decided === "refunded" ||
				// Within Solana the transaction that closes an order also refunds it.
				(marker.decided === "voided" && isPaidBack(chain, transaction, deposit));
			if (given && !given.isRefunded && isRefund(given)) {
				orderId = given.orderId;
				refundUnknown(chain, { transaction, given, due, found });
			} else {
				found.unknownDecisions++;
				breach("I3", `an order that nobody knows was ${marker.decided}`, given?.orderId);
			}
		}
		for (const { holder, token, address } of chain.accounts) {
			const amount = changeOf(transaction, { address, token }) - (due.get(address)?.amount ?? 0n);
			if (amount === 0n) continue;
			// Nobody can add to a transaction of ours, so every change in an order's transaction must be the order's.
			if (orderId) {
				const invariant = holder === "vault" ? "I3" : "I4";
				breach(invariant, `the ${holder} has ${amount} of ${token} too many or too few`, orderId);
				continue;
			}
			found.unattributed.push({ holder, token, slot: transaction.slot, amount });
			const source = memo && holder === "escrow" && amount > 0n && transaction.sources.get(address);
			if (source) {
				const { signature, slot } = transaction;
				found.deposits.push({
					orderId: memo,
					signature,
					slot,
					token,
					amount,
					...source,
					isRefunded: false,
				});
			}
		}
		for (const { address, token, amount } of due.values()) {
			const isOurs = chain.accounts.some((account) => account.address === address);
			const actual = changeOf(transaction, { address, token });
			if (!isOurs && actual !== amount) {
				breach("I4", `the wallet's ${token} changed by ${actual} and not by ${amount}`, orderId);
			}
		}
	}
	return found;
}

/** Expects the whole deposit to go back to its source, which can be judged without the order's terms. */
function refundUnknown(
	chain: AuditedSolana,
	{
		transaction: { slot },
		given,
		due,
		found,
	}: { transaction: SolanaTransaction; given: UnknownDeposit; due: Due; found: SolanaEvents },
): void {
	const { token, amount, source } = given;
	const escrow = chain.accounts.find((account) => account.holder === "escrow" && account.token === token);
	if (!escrow) throw new Error(`the escrow has no account for ${token}`);
	add(due, { address: escrow.address, token }, -amount);
	add(due, { address: source, token }, amount);
	given.isRefunded = true;
	found.unattributed.push({ holder: "escrow", token, slot, amount: -amount, isRefund: true });
}

type Account = { address: SolanaAddress; token: SolanaAddress };
/** The change of each account that an order's terms demand, by address. */
type Due = Map<SolanaAddress, Account & { amount: Amount }>;
type Step = {
	transaction: SolanaTransaction;
	orderId: Hex;
	order: Order;
	due: Due;
	found: SolanaEvents;
};

async function addDeposit(
	chain: AuditedSolana,
	{ transaction, orderId, order, due, found }: Step,
): Promise<void> {
	if (!isSolana(order.originChainId)) return;
	add(due, await holdingOf(order.wallet, order.inputToken), -order.inputAmount);
	add(due, await holdingOf(order.escrow, order.inputToken), order.inputAmount);
	found.events.opened.push({ chainId: chain.chainId, block: transaction.slot, orderId, order });
}

async function addDecision(
	chain: AuditedSolana,
	{ transaction, marker, orderId, order, due, found }: Step & { marker: MadeMarker },
): Promise<void> {
	const at = { chainId: chain.chainId, block: transaction.slot, orderId };
	const { decided } = marker;
	if (decided === "filled") {
		const recipient = await holdingOf(order.recipient, order.outputToken);
		const delivered = changeOf(transaction, recipient);
		add(due, await holdingOf(order.destinationVault, order.outputToken), -delivered);
		found.events.filled.push({ ...at, delivered });
	} else if (decided === "voided") found.events.voided.push(at);
	// Within Solana, delivery and release are one transaction with one marker, and so are void and refund. Earlier versions
	// voided such an order first, which paid nothing, and made the escrow's marker when they refunded it.
	const isWithin = isSolana(order.originChainId) && isSolana(order.destinationChainId);
	const escrow = await holdingOf(order.escrow, order.inputToken);
	const isPaidOut = changeOf(transaction, escrow) === -order.inputAmount;
	const isReleased = decided === "released" || (decided === "filled" && isWithin);
	const isRefunded = decided === "refunded" || (decided === "voided" && isWithin && isPaidOut);
	if (!isReleased && !isRefunded) return;
	const beneficiary = isReleased ? order.originVault : order.wallet;
	add(due, escrow, -order.inputAmount);
	add(due, await holdingOf(beneficiary, order.inputToken), order.inputAmount);
	found.events[isReleased ? "released" : "refunded"].push({ ...at, paid: true });
}

function add(due: Due, account: Account, amount: Amount): void {
	due.set(account.address, { ...account, amount: (due.get(account.address)?.amount ?? 0n) + amount });
}

/** Returns the change in an account's balance of its token. */
export function changeOf({ tokens, lamports }: SolanaTransaction, { address, token }: Account): bigint {
	return (token === solanaNativeToken ? lamports : tokens).get(address) ?? 0n;
}

/** Returns the deposit that left the escrow again as a whole, by a transaction that names its order. */
function paidBackByHand(
	chain: AuditedSolana,
	transaction: SolanaTransaction,
	deposits: readonly UnknownDeposit[],
): UnknownDeposit | undefined {
	const { memo } = transaction;
	return deposits.find(
		(deposit) => deposit.orderId === memo && !deposit.isRefunded && isPaidBack(chain, transaction, deposit),
	);
}

/** Returns whether the deposit left the escrow again as a whole. */
function isPaidBack(
	{ accounts }: AuditedSolana,
	transaction: SolanaTransaction,
	{ token, amount }: UnknownDeposit,
): boolean {
	const escrow = accounts.find((account) => account.holder === "escrow" && account.token === token);
	return escrow !== undefined && changeOf(transaction, escrow) === -amount;
}

/** Returns the order that a transaction says it pays for. Every deposit of ours was signed by one of our fee payers. */
function depositMemo({ feePayers }: AuditedSolana, { feePayer, memo }: SolanaTransaction): Hex | undefined {
	return feePayers.includes(feePayer) ? memo : undefined;
}
