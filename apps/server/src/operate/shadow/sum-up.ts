import type { Milliseconds } from "@geoswap/protocol";
import type { DeskChain, Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import type { PaperInventory } from "./paper-inventory.ts";
import {
	type PaperLedger,
	type PaperSwap,
	tokenIdOf,
	valueGivenE18,
	valueReceivedE18,
} from "./paper-ledger.ts";
import {
	type FeeReport,
	type InventoryReport,
	type Loss,
	lossesOf,
	type PairReport,
	type ShadowReport,
} from "./shadow-report.ts";

/**
 * Creates the report of a day from its books. Sums of money come from the books. The swaps are only counted and
 * listed.
 */
export function sumUp({
	priceCache,
	books,
	inventory,
	chains,
	swaps: all,
	requests,
	refusals,
	source,
	fromMs,
	toMs,
}: {
	priceCache: PriceCache;
	books: PaperLedger;
	inventory: PaperInventory;
	chains: ReadonlyMap<number, DeskChain>;
	swaps: ReadonlyMap<number, PaperSwap>;
	requests: number;
	refusals: ReadonlyMap<string, number>;
	source: string;
	fromMs: Milliseconds;
	toMs: Milliseconds;
}): ShadowReport {
	const swaps = [...all.values()];
	const sides = [...chains.values()].flatMap((chain) =>
		chain.assets.map((asset): Side => ({ chain, asset })),
	);
	const pairs = pairReports();
	const fees = feeReports();
	const inventories = sides
		.map(inventoryReport)
		.filter(({ start, most, inEscrow }) => start > 0n || most > 0n || inEscrow > 0n);
	const earnedE18 = sum(pairs.map((pair) => pair.earnedE18));
	const feesE18 = sum(fees.map(({ valueE18 }) => valueE18));
	const netE18 = sum(sides.map(changeE18)) - feesE18;
	const ended = swaps.filter(({ state }) => state === "filled" || state === "refunded");
	const filled = ended.filter(({ state }) => state === "filled");
	return {
		fromMs,
		toMs,
		source,
		requests,
		quoted: swaps.length,
		filled: filled.length,
		refunded: ended.length - filled.length,
		unfinished: swaps.filter(({ state }) => state === "quoted" || state === "submitted").length,
		refusals: Object.fromEntries([...refusals].toSorted(([, a], [, b]) => b - a)),
		simulations: {
			succeeded: ended.filter(({ simulation }) => simulation === "succeeded").length,
			failed: ended.filter(({ simulation }) => simulation === "failed").length,
			notSimulated: filled.filter(({ simulation }) => simulation !== "succeeded").length,
		},
		volumeE18: sum(pairs.map((pair) => pair.volumeE18)),
		earnedE18,
		heldAndReplenishedE18: netE18 - earnedE18,
		netE18,
		feesE18,
		neededE18: sum(inventories.map((of) => of.neededE18)),
		pairs,
		inventory: inventories,
		fees,
		losses: {
			atFill: lossesOf(ended.map((swap) => lossOf(swap, gainAtFill(swap)))),
			ifHonoured: lossesOf(
				filled.map((swap) => lossOf(swap, received(swap) - (swap.filled?.promisedE18 ?? 0n) - swap.feesE18)),
			),
			ifHeld: lossesOf(
				filled.map((swap) =>
					lossOf(
						swap,
						valueReceivedE18(priceCache, swap.origin, swap.quote.order.inputAmount) -
							(swap.filled?.givenE18 ?? 0n) -
							swap.feesE18,
					),
				),
			),
		},
	};

	function pairReports(): PairReport[] {
		const gains = books.gains();
		const names = [...new Set(swaps.map(({ pair }) => pair))];
		const reports = names.map((pair): PairReport => {
			const own = swaps.filter((swap) => swap.pair === pair);
			return {
				pair,
				quoted: own.length,
				filled: own.filter(({ state }) => state === "filled").length,
				refunded: own.filter(({ state }) => state === "refunded").length,
				volumeE18: sum(own.map(received)),
				earnedE18: gains.get(pair) ?? 0n,
			};
		});
		return reports.toSorted((a, b) => (a.earnedE18 > b.earnedE18 ? -1 : a.earnedE18 < b.earnedE18 ? 1 : 0));
	}

	function feeReports(): FeeReport[] {
		const spent = books.spent();
		return [...chains.values()].map(({ chainId, name, native }) => ({
			chainId,
			chain: name,
			transactions: spent.get(chainId)?.transactions ?? 0,
			fees: books.balance("chains", chainId, native.address),
			valueE18: spent.get(chainId)?.valueE18 ?? 0n,
		}));
	}

	function inventoryReport(side: Side): InventoryReport {
		const { chain, asset } = side;
		const of = tokenIdOf(side);
		const start = inventory.start(of);
		const minFree = inventory.minFree(of);
		const needed = start > minFree ? start - minFree : 0n;
		return {
			...of,
			chain: chain.name,
			symbol: asset.symbol,
			decimals: asset.decimals,
			start,
			minFree,
			most: inventory.most(of),
			inEscrow: inventory.inEscrow(of),
			end: inventory.held(of),
			needed,
			neededE18: valueGivenE18(priceCache, side, needed),
		};
	}

	/** Returns what a holding gained over the day, at the current prices. */
	function changeE18(side: Side): bigint {
		const of = tokenIdOf(side);
		const change = inventory.held(of) + inventory.inEscrow(of) - inventory.start(of);
		return change >= 0n
			? valueReceivedE18(priceCache, side, change)
			: -valueGivenE18(priceCache, side, -change);
	}
}

function gainAtFill(swap: PaperSwap): bigint {
	return received(swap) - (swap.filled?.givenE18 ?? 0n) - swap.feesE18;
}

function received(swap: PaperSwap): bigint {
	return swap.filled?.receivedE18 ?? 0n;
}

function lossOf({ id, pair }: PaperSwap, gainE18: bigint): Loss {
	return { swap: id, pair, gainE18 };
}

function sum(values: readonly bigint[]): bigint {
	return values.reduce((total, value) => total + value, 0n);
}
