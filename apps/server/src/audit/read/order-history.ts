import {
	type Amount,
	accountRentLamports,
	fromSolanaWord,
	inputAddress,
	type Order,
	orderAddress,
	programAccountSizes,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import { getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import type { AuditedSwap } from "./read-books.ts";
import { type ChainEvents, claimKey } from "./read-chain-events.ts";
import type { SolanaTransaction } from "./read-solana-transaction.ts";

/** Everything that happened to one order, on all chains. */
export type OrderHistory = {
	orderId: Hex;
	order: Order | undefined;
	opened: ChainEvents["opened"];
	released: ChainEvents["released"];
	refunded: ChainEvents["refunded"];
	filled: ChainEvents["filled"];
	voided: ChainEvents["voided"];
	/** The last claim of the escrow's debt to the wallet, which includes an input that could not be refunded. */
	claimed: { block: number }[];
};

const kinds = ["opened", "released", "refunded", "filled", "voided"] as const;

export function orderHistories(chains: readonly ChainEvents[]): Map<Hex, OrderHistory> {
	const histories = new Map<Hex, OrderHistory>();
	for (const events of chains) {
		for (const kind of kinds) {
			for (const event of events[kind]) {
				const history = histories.get(event.orderId) ?? emptyHistory(event.orderId);
				(history[kind] as (typeof event)[]).push(event);
				if ("order" in event) history.order = event.order;
				histories.set(event.orderId, history);
			}
		}
	}
	const claims = new Map(chains.flatMap(({ claimed }) => [...claimed]));
	for (const history of histories.values()) {
		const [refund] = history.refunded;
		const { order } = history;
		if (!order || !refund) continue;
		const key = claimKey(refund.chainId, order.escrow, order.wallet, order.inputToken);
		const claim = claims.get(key);
		if (claim && claim.block >= refund.block) history.claimed.push(claim);
	}
	return histories;
}

function emptyHistory(orderId: Hex): OrderHistory {
	return {
		orderId,
		order: undefined,
		opened: [],
		released: [],
		refunded: [],
		filled: [],
		voided: [],
		claimed: [],
	};
}

/**
 * The final transactions that name the service's keys, program and accounts. Anyone can name these in as many
 * transactions as they pay for, so of transactions that call no instruction of the program only the gifts are kept.
 */
export type SolanaHistory = {
	/** Transactions that the service's fee payers paid for, or that called the program or took money, oldest first. */
	transactions: readonly SolanaTransaction[];
	/** Gifts to each of the service's accounts, oldest first, without those from before the books began. */
	gifts: ReadonlyMap<SolanaAddress, readonly SolanaGift[]>;
	/** Gifts up to this slot are added up, and dated at it. */
	giftsMergedAt: number;
	/** Number of strangers' transactions that were read. One that names several of the addresses counts once for each. */
	strangers: number;
	/** Number of these that cannot be decoded, or that the node refuses. */
	undecodable: number;
	/** The newest transaction that names each address. */
	newest: ReadonlyMap<SolanaAddress, Signature>;
	/** The part of each address's list that is not read yet. Empty if the history is complete. */
	unread: ReadonlyMap<SolanaAddress, UnreadPart>;
	/** The error that ended the reading early. Everything read before it is kept, and the next call continues there. */
	failure: unknown;
};

/** The amount that strangers gave to one of the service's accounts in a slot. */
export type SolanaGift = { slot: number; amount: Amount };

/** Transactions older than `before` and newer than `until`. */
type UnreadPart = { before: Signature; until: Signature | undefined };

/** Accounts that a node returns per call. */
const accountsAtOnce = 100;

/** The inputs in the accounts of orders in the program. Each is read at a separate final slot. */
export type OrderHoldings = ReadonlyMap<Hex, { slot: number; amount: bigint }>;

/** Reads the holdings of the accounts of undecided orders, at final slots not before `minSlot`. */
export async function orderHoldings(
	{ rpc, chainId, deployment: { program } }: AuditedSolana,
	{ swaps, minSlot }: { swaps: readonly AuditedSwap[]; minSlot: number },
): Promise<OrderHoldings> {
	const open = swaps.filter(({ order, isEnded }) => !isEnded && order.originChainId === BigInt(chainId));
	const found = new Map<Hex, { slot: number; amount: bigint }>();
	for (let i = 0; i < open.length; i += accountsAtOnce) {
		const some = open.slice(i, i + accountsAtOnce);
		const addresses = await Promise.all(some.map(addressOf));
		const { context, value } = await rpc
			.getMultipleAccounts(addresses, {
				commitment: "finalized",
				encoding: "base64",
				minContextSlot: BigInt(minSlot),
			})
			.send();
		for (const [j, { orderId, order }] of some.entries()) {
			const account = value[j];
			found.set(orderId, {
				slot: Number(context.slot),
				amount: account ? amountIn(account, fromSolanaWord(order.inputToken)) : 0n,
			});
		}
	}
	return found;

	/** Returns where an order's input is. A token is in the order's token account, and SOL in the order's own account. */
	function addressOf({ order, orderId }: AuditedSwap): Promise<SolanaAddress> {
		const isNative = fromSolanaWord(order.inputToken) === solanaNativeToken;
		return (isNative ? orderAddress : inputAddress)(program.address, orderId);
	}

	function amountIn(
		account: { owner: string; lamports: bigint; data: readonly [string, string] },
		token: SolanaAddress,
	): bigint {
		if (token === solanaNativeToken) {
			const isOrder = account.owner === program.address;
			return isOrder ? account.lamports - accountRentLamports(programAccountSizes.order) : 0n;
		}
		if (account.owner !== TOKEN_PROGRAM_ADDRESS) return 0n;
		return getTokenDecoder().decode(Buffer.from(account.data[0], "base64")).amount;
	}
}
