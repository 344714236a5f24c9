import { type Amount, addressOfWord, type Milliseconds, toChainId, type UsdE18 } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { DeskQuote, Repriced } from "../../desk/desk.ts";
import { type DeskChain, isSettlement, type Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { usdValueDown, usdValueUp } from "../../desk/price/usd-value.ts";
import { assetId } from "../../desk/price-swap.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { FillSimulation } from "./simulate-fill.ts";

/**
 * Accounts of the paper ledger: the vaults' inventory, the service's inputs in escrow, the relayers' money for fees,
 * and the other parties, which are the callers, the chains that are paid fees, and the market in which the service
 * buys and sells.
 */
export type PaperAccount = "inventory" | "escrow" | "relayers" | "callers" | "chains" | "market";

export type Leg = { account: PaperAccount; chainId: number; token: Hex; amount: Amount };

/** A booking. The legs of each token add up to zero. */
export type Entry = {
	memo: "opening inventory" | "open" | "fill" | "release" | "refund" | "void" | "replenish";
	/** Absent if it belongs to no swap. */
	swap?: number;
	/** The pair that the gain belongs to. */
	pair?: string;
	/** Gain in USD at the booking's prices: the value received, rounded down, less the value given, rounded up. */
	gainE18: UsdE18;
	legs: Leg[];
};

export type PaperLedger = {
	/** Books an entry. Throws if its legs do not add up to zero. */
	post: (entry: Entry) => void;
	balance: (account: PaperAccount, chainId: number, token: Hex) => bigint;
	/** Returns the sum of all gains by pair. */
	gains: () => ReadonlyMap<string, UsdE18>;
	/** Returns how many transactions were paid on each chain, and the value of their fees. */
	spent: () => ReadonlyMap<number, { transactions: number; valueE18: UsdE18 }>;
};

/** Creates double-entry books in memory. Each entry is passed on to `write`. */
export function createPaperLedger({ write }: { write: (entry: Entry) => void }): PaperLedger {
	const balances = new Map<string, bigint>();
	const gains = new Map<string, bigint>();
	const spent = new Map<number, { transactions: number; valueE18: UsdE18 }>();
	return {
		post: (entry) => {
			const sums = new Map<string, bigint>();
			for (const { chainId, token, amount } of entry.legs) add(sums, `${chainId}:${token}`, amount);
			for (const [asset, sum] of sums) {
				if (sum !== 0n) throw new RangeError(`the legs of ${entry.memo} in ${asset} add up to ${sum}`);
			}
			for (const leg of entry.legs) add(balances, keyOf(leg), leg.amount);
			if (entry.pair !== undefined) add(gains, entry.pair, entry.gainE18);
			const paid = entry.legs.find(({ account }) => account === "chains");
			if (paid) {
				const before = spent.get(paid.chainId) ?? { transactions: 0, valueE18: 0n };
				const { transactions, valueE18 } = before;
				spent.set(paid.chainId, { transactions: transactions + 1, valueE18: valueE18 - entry.gainE18 });
			}
			write(entry);
		},
		balance: (account, chainId, token) => balances.get(keyOf({ account, chainId, token })) ?? 0n,
		gains: () => gains,
		spent: () => spent,
	};
}

/** Returns the two legs that move an amount from one account to another. */
export function move(
	amount: Amount,
	{ chainId, token, from, to }: { chainId: number; token: Hex; from: PaperAccount; to: PaperAccount },
): Leg[] {
	return [
		{ account: from, chainId, token, amount: -amount },
		{ account: to, chainId, token, amount },
	];
}

/** Returns the chain and the address of a token, as legs and holdings have them. */
export function tokenIdOf({ chain, asset }: Side): { chainId: number; token: Hex } {
	return { chainId: chain.chainId, token: asset.address };
}

function keyOf({ account, chainId, token }: Omit<Leg, "amount">): string {
	return `${account}:${chainId}:${token}`;
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
	sums.set(key, (sums.get(key) ?? 0n) + amount);
}

/**
 * Returns the value of a received amount, which is what the pools pay for it in the settlement token, at that token's
 * feed, rounded down at each step. An amount beyond the ladder has the value of its feed.
 */
export function valueReceivedE18(priceCache: PriceCache, side: Side, amount: Amount): bigint {
	const { chain } = side;
	const sold = isSettlement(side) ? amount : priceCache.sell({ ...assetId(side), amount });
	if (sold === undefined) return usdValueDown(amount, priceCache.reference(assetId(side)));
	return usdValueDown(sold, priceCache.reference({ chainId: chain.chainId, asset: chain.settlementToken }));
}

/** Returns the value of a given amount, at its feed, rounded up. */
export function valueGivenE18(priceCache: PriceCache, side: Side, amount: Amount): bigint {
	return usdValueUp(amount, priceCache.reference(assetId(side)));
}

/** Returns the value of a fee in the chain's own unit, rounded up. */
export function feeValueE18(
	priceCache: PriceCache,
	{ chainId, native, nativeDecimals }: DeskChain,
	fee: bigint,
): bigint {
	const { usdE18 } = priceCache.reference({ chainId, asset: native.address });
	return usdValueUp(fee, { decimals: nativeDecimals, usdE18 });
}

/** A swap on paper. */
export type PaperSwap = {
	id: number;
	quote: DeskQuote;
	origin: Side;
	destination: Side;
	pair: string;
	isSameChain: boolean;
	/** Set at the submit: what is reserved until the fill or the refund. */
	reserved?: Repriced;
	openedAtMs?: Milliseconds;
	/** Set at the fill, with the values then. The promised one is that of the quoted output, by its feed. */
	filled?: { receivedE18: bigint; givenE18: bigint; promisedE18: bigint };
	/** Set if the fill was simulated. */
	simulation?: FillSimulation["outcome"];
	isReleased?: boolean;
	/** All fees of its transactions, each at the price when it was paid. */
	feesE18: bigint;
	state: "quoted" | "submitted" | "filled" | "refunded" | "refused";
};

export function paperSwap(id: number, quote: DeskQuote, chains: ReadonlyMap<number, DeskChain>): PaperSwap {
	const { order } = quote;
	const origin = sideOf(order.originChainId, order.inputToken);
	const destination = sideOf(order.destinationChainId, order.outputToken);
	return {
		id,
		quote,
		origin,
		destination,
		pair: `${nameOf(origin)} to ${nameOf(destination)}`,
		isSameChain: origin.chain.chainId === destination.chain.chainId,
		feesE18: 0n,
		state: "quoted",
	};

	function sideOf(chainId: bigint, word: Hex): Side {
		const chain = chains.get(toChainId(chainId));
		const asset = chain?.assets.find(({ address }) => address === addressOfWord(chainId, word));
		if (!chain || !asset)
			throw new RangeError(`a quote names ${word} on chain ${chainId}, which is not offered`);
		return { chain, asset };
	}
}

/** Returns the token that leaves the vault: the output, or the settlement token that buys it. */
export function paidSide({ destination, quote }: PaperSwap): Side {
	const { chain } = destination;
	if (quote.delivery.kind !== "router") return destination;
	const asset = chain.assets.find(({ address }) => address === chain.settlementToken);
	if (!asset) throw new RangeError(`${chain.name} does not list its settlement token`);
	return { chain, asset };
}

/** Returns how much of that token leaves the vault. On Solana the recipient is assumed to need a token account. */
export function paidAmount(delivery: Delivery): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

/** Returns the volume of other swaps in flight on the ladders of a swap. */
export function volumeInFlight(
	others: Iterable<PaperSwap>,
	volumes: Repriced["volumes"],
): { sell: Amount; buy: Amount } {
	const inFlight = { sell: 0n, buy: 0n };
	const own = new Map(
		volumes.map(({ chainId, token, direction }) => [`${chainId}:${token}:${direction}`, direction]),
	);
	const sums = new Map<string, bigint>();
	for (const { reserved } of others) {
		for (const { chainId, token, direction, amount } of reserved?.volumes ?? []) {
			const key = `${chainId}:${token}:${direction}`;
			if (own.has(key)) sums.set(key, (sums.get(key) ?? 0n) + amount);
		}
	}
	// A route of two pools is bought on two ladders. The fuller one counts, as in the service.
	for (const [key, sum] of sums) {
		const direction = own.get(key) ?? "sell";
		if (sum > inFlight[direction]) inFlight[direction] = sum;
	}
	return inFlight;
}

function nameOf({ chain, asset }: Side): string {
	return `${asset.symbol} on ${chain.name}`;
}
