import {
	type Amount,
	type AssetDeployment,
	type ChainDeployment,
	lesser,
	type Milliseconds,
	mulDivDown,
	type Wei,
} from "@geoswap/protocol";
import type { Address } from "viem";
import { feeModelOf, type TransactionShape } from "../../chain/evm/fee/fee-model.ts";
import type { AssetPrices, BlockPrices, Ladder } from "../../chain/evm/read/read-block-prices.ts";
import { interpolateBest } from "./interpolate.ts";
import type { PriceStop } from "./price-stop.ts";
import type { Pricing } from "./pricing.ts";
import {
	priceDeviationBps,
	type ReferenceTerms,
	referenceProblem,
	referencesApartBps,
} from "./reference-problem.ts";
import { convertDown, type PricedToken } from "./usd-value.ts";

/** The number of blocks that a price must have held, so that manipulating a pool for one block gains nothing. */
const blocksKept = 3;

const staleAfterMs = 15_000;
const staleAfterBlocks = 10;
/** Upper bound regardless of the block time, because after a halt of the chain, its last blocks seem slow. */
const staleAtLatestMs = 60_000;

const bps = 10_000n;

export type LadderPricing = Pricing & {
	/** Returns what a transaction would cost at the newest block's fees. */
	transactionCost: (transaction: TransactionShape) => Wei;
	update: (prices: BlockPrices, options: { nowMs: Milliseconds }) => void;
	/** Returns the block whose prices are used; undefined before the first. */
	newest: () => BlockPrices | undefined;
};

type Page = {
	deployment: ChainDeployment;
	assets: Map<Address, AssetDeployment>;
	/** Newest first. */
	blocks: BlockPrices[];
	updatedAtMs: Milliseconds;
	/** The assets whose pools agree with their feeds in the newest block. */
	agreeing: Set<Address>;
};

/** Prices assets by what the chain's pools pay in the last blocks, and never far above the feeds. */
export function createLadderPricing({
	deployment,
	feedMarginBps,
	feedDeviationBps,
	references,
}: {
	deployment: ChainDeployment;
	/** The margin by which a price may exceed the feeds. */
	feedMarginBps: number;
	/** The deviation of a pool from the feeds at which its asset is stopped. */
	feedDeviationBps: number;
	references: ReferenceTerms;
}): LadderPricing {
	const { settlementToken } = deployment;
	const { cost } = feeModelOf(deployment);
	const page: Page = {
		deployment,
		assets: new Map(deployment.assets.map((asset) => [asset.address, asset])),
		blocks: [],
		updatedAtMs: 0,
		agreeing: new Set(),
	};

	return {
		update: (prices, { nowMs }) => {
			page.blocks = [prices, ...page.blocks].slice(0, blocksKept);
			page.updatedAtMs = nowMs;
			page.agreeing = new Set([...page.assets.keys()].filter(poolsAgreeWithFeeds));
		},
		newest: () => page.blocks[0],
		isReady: ({ nowMs }) => isFresh(page, nowMs),
		ageMs: ({ nowMs }) => ageMs(page, nowMs),
		stopOf: (asset, { nowMs }) => {
			const stop = referenceStopOf(asset, nowMs);
			if (stop || asset === settlementToken) return stop;
			const settlementStop = referenceStopOf(settlementToken, nowMs);
			if (settlementStop) return settlementStop;
			return page.agreeing.has(asset) ? undefined : stopFor(asset, "pools-disagree");
		},
		referenceStopOf: (asset, { nowMs }) => referenceStopOf(asset, nowMs),
		referencesApartBps: (asset, { nowMs }) => {
			const { feed, pythId } = page.assets.get(asset) ?? {};
			const answer = page.blocks[0]?.assets.get(asset)?.feed;
			const { pythPrices } = references;
			if (!feed || pythId === undefined || !pythPrices) return undefined;
			return referencesApartBps(pythId, { answer, nowMs, pythPrices });
		},
		sell: ({ asset, amount, inFlight }) => {
			if (asset === settlementToken) return amount;
			const paid = worst(page, (block) => pricesIn(block, asset)?.sell, amount, inFlight);
			if (!paid) return undefined;
			return lesser(paid.output, bestByFeeds({ amount, from: asset, to: settlementToken }));
		},
		buy: ({ asset, budget, inFlight }) => {
			const paid = worst(page, (block) => pricesIn(block, asset)?.buy, budget, inFlight);
			if (!paid) return undefined;
			const best = bestByFeeds({ amount: budget, from: settlementToken, to: asset });
			return { output: lesser(paid.output, best), fees: paid.fees };
		},
		reference: (asset) => referenceOf(page, asset),
		feedUpdatedAtUnixSeconds: (asset) => page.blocks[0]?.assets.get(asset)?.feed.updatedAtUnixSeconds,
		baseFee: () => page.blocks[0]?.fees.baseFee ?? 0n,
		transactionCost: (transaction) => {
			const { fees } = page.blocks[0] ?? {};
			if (!fees) throw new RangeError(`the price cache has no fees of chain ${deployment.chainId}`);
			return cost(fees, transaction);
		},
		blockSeconds: () => blockSeconds(page),
	};

	function referenceStopOf(asset: Address, nowMs: Milliseconds): PriceStop | undefined {
		const block = page.blocks[0];
		const deployed = page.assets.get(asset);
		if (!block || !isFresh(page, nowMs)) return stopFor(asset, "prices-old");
		if (!deployed) return stopFor(asset, "reference-stale");
		const reason = referenceProblem(
			deployed,
			{ answer: pricesIn(block, asset)?.feed, block, nowMs },
			references,
		);
		return reason && stopFor(asset, reason);
	}

	function stopFor(asset: Address, reason: PriceStop["reason"]): PriceStop {
		return { reason, symbol: page.assets.get(asset)?.symbol ?? asset };
	}

	/** Compares the smallest size in both directions. */
	function poolsAgreeWithFeeds(asset: Address): boolean {
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
		const deviationBps = priceDeviationBps({ sold, bought, soldByFeeds, boughtByFeeds });
		return deviationBps !== undefined && deviationBps <= feedDeviationBps;
	}

	function bestByFeeds({ amount, from, to }: { amount: Amount; from: Address; to: Address }): bigint {
		const fair = convertDown(amount, referenceOf(page, from), referenceOf(page, to));
		return mulDivDown(fair, bps + BigInt(feedMarginBps), bps);
	}
}

/** Returns the minimum that the kept blocks pay, each on its best pools. The fee tiers are the newest block's. */
function worst(
	page: Page,
	laddersIn: (block: BlockPrices) => Ladder[] | undefined,
	input: Amount,
	inFlight: Amount,
): { output: Amount; fees: number[] } | undefined {
	let result: { output: Amount; fees: number[] } | undefined;
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
		throw new RangeError(`the price cache has no price of ${asset} on chain ${page.deployment.chainId}`);
	}
	return { decimals, usdE18: prices.feed.usdE18 };
}

function hasReference(page: Page, asset: Address): boolean {
	return referenceOf(page, asset).usdE18 > 0n;
}

function smallest(ladders: Ladder[]): { input: Amount; output: Amount } | undefined {
	const first = ladders.flatMap(({ rungs }) => rungs.slice(0, 1));
	return first.reduce<(typeof first)[number] | undefined>(
		(best, rung) => (best && best.output >= rung.output ? best : rung),
		undefined,
	);
}

function ageMs(page: Page, nowMs: Milliseconds): number | undefined {
	const newest = page.blocks[0];
	if (!newest) return undefined;
	// A lagging node constantly delivers new blocks, but with old prices.
	return nowMs - Math.min(page.updatedAtMs, newest.timestampUnixSeconds * 1_000);
}

function isFresh(page: Page, nowMs: Milliseconds): boolean {
	const age = ageMs(page, nowMs);
	if (age === undefined) return false;
	const paceMs = staleAfterBlocks * blockSeconds(page) * 1_000;
	return age <= Math.min(Math.max(staleAfterMs, paceMs), staleAtLatestMs);
}

function blockSeconds({ blocks }: Page): number {
	const [newest, oldest] = [blocks[0], blocks.at(-1)];
	if (!newest || !oldest || newest.blockNumber <= oldest.blockNumber) return 1;
	const seconds = newest.timestampUnixSeconds - oldest.timestampUnixSeconds;
	return Math.max(1, seconds / (newest.blockNumber - oldest.blockNumber));
}
