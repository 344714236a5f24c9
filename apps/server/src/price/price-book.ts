import { type AssetDeployment, type ChainDeployment, mulDivDown } from "@geoswap/protocol";
import type { Address } from "viem";
import type { AssetPrices, BlockPrices, Ladder } from "../chain/evm/read-block-prices.ts";
import { interpolateBest } from "./ladder.ts";
import { greater, lesser } from "./lesser.ts";
import { convertDown, type PricedToken } from "./usd-value.ts";

/** A price must have held for a few blocks: a pool pushed for one block sells nothing dear. */
const blocksKept = 3;

/** A feed's round is sent at its heartbeat, and then has to be mined. */
const feedGraceSeconds = 120;

const staleAfterMs = 15_000;
const staleAfterBlocks = 10;
/** However long its blocks seem to take: a chain that stood still makes the last ones look slow. */
const staleAtLatestMs = 60_000;

const bps = 10_000n;

type AssetId = { chainId: number; asset: Address };

/** Prices of every chain, in memory, as of the last few blocks. */
export type PriceBook = {
	update: (prices: BlockPrices, options: { nowMs: number }) => void;
	/** Whether the chain has prices, and new ones. */
	isReady: (chainId: number, options: { nowMs: number }) => boolean;
	/** How old the newest prices are; undefined before the first. */
	ageMs: (chainId: number, options: { nowMs: number }) => number | undefined;
	/** Whether the asset may be priced: its chain's prices and its feed are fresh, and pools and feed agree. */
	isLive: (id: AssetId, options: { nowMs: number }) => boolean;
	/** Whether its chain's prices and its feed alone are fresh. */
	isReferenceLive: (id: AssetId, options: { nowMs: number }) => boolean;
	/** What the asset brings in the settlement token. Undefined beyond the ladder. */
	sell: (id: AssetId & { amount: bigint; inFlight?: bigint }) => bigint | undefined;
	/** What the budget, in the settlement token, buys, and on which pools. Undefined beyond the ladder. */
	buy: (
		id: AssetId & { budget: bigint; inFlight?: bigint },
	) => { output: bigint; fees: number[] } | undefined;
	/** The asset at its feed's price. Only where that is live. */
	reference: (id: AssetId) => PricedToken;
	/** The highest base fee of the last blocks. */
	baseFee: (chainId: number) => bigint;
	/** How long a block takes, as the last ones did; at least a second. */
	blockSeconds: (chainId: number) => number;
};

type Page = {
	deployment: ChainDeployment;
	assets: Map<Address, AssetDeployment>;
	/** Newest first. */
	blocks: BlockPrices[];
	updatedAtMs: number;
	/** The assets whose pools are near their feeds in the newest block. */
	agreeing: Set<Address>;
};

export function createPriceBook({
	chains,
	feedMarginBps,
	feedDeviationBps,
}: {
	chains: readonly ChainDeployment[];
	/** How far above the feeds a price may be. */
	feedMarginBps: number;
	/** How far a pool may be from the feeds before its asset stops. */
	feedDeviationBps: number;
}): PriceBook {
	const pages = new Map<number, Page>(
		chains.map((deployment) => [
			deployment.chainId,
			{
				deployment,
				assets: new Map(deployment.assets.map((asset) => [asset.address, asset])),
				blocks: [],
				updatedAtMs: 0,
				agreeing: new Set(),
			},
		]),
	);

	return {
		update: (prices, { nowMs }) => {
			const page = pageOf(prices.chainId);
			page.blocks = [prices, ...page.blocks].slice(0, blocksKept);
			page.updatedAtMs = nowMs;
			page.agreeing = new Set([...page.assets.keys()].filter((asset) => poolsAgreeWithFeeds(page, asset)));
		},
		isReady: (chainId, { nowMs }) => isFresh(pages.get(chainId), nowMs),
		ageMs: (chainId, { nowMs }) => ageMs(pages.get(chainId), nowMs),
		isLive: ({ chainId, asset }, { nowMs }) => {
			const page = pages.get(chainId);
			if (!page || !isFresh(page, nowMs) || !isFeedFresh(page, asset)) return false;
			if (asset === page.deployment.settlementToken) return true;
			return isFeedFresh(page, page.deployment.settlementToken) && page.agreeing.has(asset);
		},
		isReferenceLive: ({ chainId, asset }, { nowMs }) => {
			const page = pages.get(chainId);
			return page !== undefined && isFresh(page, nowMs) && isFeedFresh(page, asset);
		},
		sell: ({ chainId, asset, amount, inFlight = 0n }) => {
			const page = pageOf(chainId);
			const { settlementToken } = page.deployment;
			if (asset === settlementToken) return amount;
			const paid = worst(page, (block) => pricesIn(block, asset)?.sell, amount, inFlight);
			if (!paid) return undefined;
			return lesser(paid.output, bestByFeeds(page, { amount, from: asset, to: settlementToken }));
		},
		buy: ({ chainId, asset, budget, inFlight = 0n }) => {
			const page = pageOf(chainId);
			const { settlementToken } = page.deployment;
			const paid = worst(page, (block) => pricesIn(block, asset)?.buy, budget, inFlight);
			if (!paid) return undefined;
			const best = bestByFeeds(page, { amount: budget, from: settlementToken, to: asset });
			return { output: lesser(paid.output, best), fees: paid.fees };
		},
		reference: ({ chainId, asset }) => referenceOf(pageOf(chainId), asset),
		baseFee: (chainId) =>
			pageOf(chainId)
				.blocks.map((block) => block.baseFee)
				.reduce(greater, 0n),
		blockSeconds: (chainId) => blockSeconds(pageOf(chainId)),
	};

	function pageOf(chainId: number): Page {
		const page = pages.get(chainId);
		if (!page) throw new RangeError(`the book has no chain ${chainId}`);
		return page;
	}

	function isFeedFresh(page: Page, asset: Address): boolean {
		const block = page.blocks[0];
		const feed = block && pricesIn(block, asset)?.feed;
		const heartbeat = page.assets.get(asset)?.feed.heartbeatSeconds;
		if (!feed || !heartbeat || feed.usdE18 === 0n) return false;
		return block.timestampUnixSeconds - feed.updatedAtUnixSeconds <= heartbeat + feedGraceSeconds;
	}

	/** Compares the smallest size each way. What a pool charges lowers both, so half their difference is the price's. */
	function poolsAgreeWithFeeds(page: Page, asset: Address): boolean {
		const { settlementToken } = page.deployment;
		const prices = page.blocks[0] && pricesIn(page.blocks[0], asset);
		const sold = smallest(prices?.sell ?? []);
		const bought = smallest(prices?.buy ?? []);
		if (!sold || !bought || !hasReference(page, asset) || !hasReference(page, settlementToken)) return false;
		const soldByFeeds = convertDown(sold.input, referenceOf(page, asset), referenceOf(page, settlementToken));
		const boughtByFeeds = convertDown(
			bought.input,
			referenceOf(page, settlementToken),
			referenceOf(page, asset),
		);
		if (soldByFeeds === 0n || boughtByFeeds === 0n) return false;
		const apart = (sold.output * bps) / soldByFeeds - (bought.output * bps) / boughtByFeeds;
		return (apart < 0n ? -apart : apart) <= 2n * BigInt(feedDeviationBps);
	}

	function bestByFeeds(
		page: Page,
		{ amount, from, to }: { amount: bigint; from: Address; to: Address },
	): bigint {
		const fair = convertDown(amount, referenceOf(page, from), referenceOf(page, to));
		return mulDivDown(fair, bps + BigInt(feedMarginBps), bps);
	}
}

/** The least of what the blocks pay, each on its best pools; the pools are the newest block's. */
function worst(
	page: Page,
	laddersIn: (block: BlockPrices) => Ladder[] | undefined,
	input: bigint,
	inFlight: bigint,
): { output: bigint; fees: number[] } | undefined {
	let result: { output: bigint; fees: number[] } | undefined;
	for (const block of page.blocks) {
		const paid = interpolateBest(laddersIn(block) ?? [], input, inFlight);
		if (!paid) return undefined;
		result = result ? { ...result, output: lesser(result.output, paid.output) } : paid;
	}
	return result;
}

function pricesIn(block: BlockPrices, asset: Address): AssetPrices | undefined {
	return block.assets.get(asset);
}

function referenceOf(page: Page, asset: Address): PricedToken {
	const prices = page.blocks[0]?.assets.get(asset);
	const decimals = page.assets.get(asset)?.decimals;
	if (!prices || decimals === undefined) {
		throw new RangeError(`the book has no price of ${asset} on chain ${page.deployment.chainId}`);
	}
	return { decimals, usdE18: prices.feed.usdE18 };
}

function hasReference(page: Page, asset: Address): boolean {
	return referenceOf(page, asset).usdE18 > 0n;
}

function smallest(ladders: Ladder[]): { input: bigint; output: bigint } | undefined {
	const first = ladders.flatMap(({ rungs }) => rungs.slice(0, 1));
	return first.reduce<(typeof first)[number] | undefined>(
		(best, rung) => (best && best.output >= rung.output ? best : rung),
		undefined,
	);
}

function ageMs(page: Page | undefined, nowMs: number): number | undefined {
	const newest = page?.blocks[0];
	if (!page || !newest) return undefined;
	// A node that lags gives new blocks all the time, and old prices.
	return nowMs - Math.min(page.updatedAtMs, newest.timestampUnixSeconds * 1_000);
}

function isFresh(page: Page | undefined, nowMs: number): boolean {
	const age = ageMs(page, nowMs);
	if (!page || age === undefined) return false;
	const paceMs = staleAfterBlocks * blockSeconds(page) * 1_000;
	return age <= Math.min(Math.max(staleAfterMs, paceMs), staleAtLatestMs);
}

function blockSeconds({ blocks }: Page): number {
	const [newest, oldest] = [blocks[0], blocks.at(-1)];
	if (!newest || !oldest || newest.blockNumber <= oldest.blockNumber) return 1;
	const seconds = newest.timestampUnixSeconds - oldest.timestampUnixSeconds;
	return Math.max(1, seconds / (newest.blockNumber - oldest.blockNumber));
}
