import { type Amount, type AssetDeployment, greater, type Seconds } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { FeeRates } from "../fee/fee-model.ts";
import { readTipAt, type TipBounds } from "../fee/read-tip.ts";
import { callEncoded, decodeViews } from "./call-multicall.ts";
import { isAnyDue, type KnownLadder, type KnownLadders, movingQuotes, readLadders } from "./known-ladders.ts";
import { type LadderQuestion, ladderQuestions, poolsOnPath } from "./ladder-questions.ts";
import {
	decodeLight,
	encodeLight,
	type FeedAnswer,
	type LightCall,
	noAnswer,
	type SequencerStatus,
} from "./light-call.ts";
import { findPools, type Pool, poolKey } from "./pool-states.ts";
import { defaultCallGas, isOutOfGas, minCallGas, type QuoteQuestion, quoteKey } from "./request-quotes.ts";

/** The output that a path of pools pays for one size of input. */
export type Rung = { input: Amount; output: Amount };

/** A path's outputs, by ascending size. The fee tiers are in the direction away from the settlement token. */
export type Ladder = { fees: number[]; rungs: Rung[] };

export type AssetPrices = {
	/** The reference price. For an asset without a feed it comes from elsewhere. */
	feed: FeedAnswer;
	/** Ladders from the settlement token to the asset, and back. Both are empty for the settlement token itself. */
	buy: Ladder[];
	sell: Ladder[];
};

/** Everything that prices depend on, as of one block. */
export type BlockPrices = {
	chainId: number;
	blockHash: Hex;
	blockNumber: number;
	timestampUnixSeconds: Seconds;
	fees: FeeRates;
	/** When the tip was read, by the chain's clock. */
	tipReadAtUnixSeconds: Seconds;
	assets: Map<Address, AssetPrices>;
	/** Every feed that was read, by its address: those of the assets, and those that price assets of other chains. */
	feeds: Map<Address, FeedAnswer>;
	/** Absent if the chain has no such feed. */
	sequencer?: SequencerStatus;
	/** Kept for the next block, for which only what has changed is requested. */
	reading?: Reading;
};

type Block = { hash: Hex; number: bigint; timestamp: bigint; baseFeePerGas: bigint | null };

type Reading = {
	pools: ReadonlyMap<string, Pool>;
	ladders: KnownLadders;
	/** The maximum gas of one call at this node. */
	callGas: bigint;
	light: LightCall;
	answer: Hex;
	/** The given `references`, as a text. */
	references: string;
};

const noTips: TipBounds = { minimum: 0n, maximum: 0n };

/**
 * Reads all pools and feeds of a chain as of one block. Ladders are requested only if their sizes or a pool on their
 * path have changed since `previous`, so at a quiet block one call reads the feeds and the pools' states. The result is
 * the same as without `previous`, except for the case that `ladderMaxAgeSeconds` describes.
 */
export async function readBlockPrices(
	chain: EvmChain,
	{
		block,
		topUsd,
		tips = noTips,
		previous,
		feedsForOthers = [],
		references = new Map(),
	}: {
		block: Block;
		topUsd: number;
		/** The bounds of the tip. A caller that needs no fees leaves them out. */
		tips?: TipBounds;
		previous?: BlockPrices | undefined;
		/** Feeds on this chain that price assets of chains without any. */
		feedsForOthers?: readonly Address[];
		/** Prices of assets that have no feed, by the asset's address. */
		references?: ReadonlyMap<Address, FeedAnswer>;
	},
): Promise<BlockPrices> {
	const { chainId, deployment } = chain;
	const { number: blockNumber } = block;
	const nowUnixSeconds = Number(block.timestamp);
	const before = previous?.reading;
	const pools =
		before && !isAnyDue(before.ladders, nowUnixSeconds)
			? before.pools
			: await knownPools(chain, { blockNumber, before });
	const feeds = [
		...new Set([...deployment.assets.flatMap(({ feed }) => feed?.address ?? []), ...feedsForOthers]),
	];
	let callGas = before?.callGas ?? defaultCallGas;
	const { tip, tipReadAtUnixSeconds } = await readTipAt(chain, {
		bounds: tips,
		nowUnixSeconds,
		previous: previous && { ...previous, tip: previous.fees.tip },
	});

	const { light, answer } = await readLight();
	const ofBlock = {
		blockHash: block.hash,
		blockNumber: Number(blockNumber),
		timestampUnixSeconds: nowUnixSeconds,
		tipReadAtUnixSeconds,
	};
	const ownFees = { baseFee: block.baseFeePerGas ?? 0n, tip };
	const referencesText = [...references]
		.map(([asset, { usdE18, updatedAtUnixSeconds }]) => `${asset} ${usdE18} ${updatedAtUnixSeconds}`)
		.join();
	const isSame =
		before?.light === light &&
		before.answer === answer &&
		before.references === referencesText &&
		light.quotes.length === 0;
	if (previous && before && isSame && !isAnyDue(before.ladders, nowUnixSeconds)) {
		return { ...previous, ...ofBlock, fees: { ...ownFees, l1: previous.fees.l1 } };
	}
	const results = decodeViews(answer);
	// If pools are known, the factory has answered.
	if (pools.size === 0 && !results.slice(0, 2 * feeds.length).some(({ success }) => success)) {
		throw new Error(`no feed and no pool of chain ${chainId} has answered; check their addresses`);
	}
	const seen = decodeLight(chain, light, results);
	const feedOf = ({ address, feed }: AssetDeployment) =>
		(feed ? seen.feeds.get(feed.address) : references.get(address)) ?? noAnswer;
	const assetFeeds = new Map(deployment.assets.map((asset) => [asset.address, feedOf(asset)]));
	const questions = ladderQuestions(deployment, {
		usdE18Of: (asset) => assetFeeds.get(asset)?.usdE18 ?? 0n,
		topUsd,
	});
	const { ladders, callGas: nextCallGas } = await readLadders(chain, {
		questions,
		before: before?.ladders,
		light,
		answer: seen,
		blockNumber,
		nowUnixSeconds,
		callGas,
	});
	const laddersOf = ({ address }: AssetDeployment, direction: LadderQuestion["direction"]): Ladder[] =>
		questions
			.filter((question) => question.asset === address && question.direction === direction)
			.map(({ fees, path }) => ({ fees, rungs: answeredRungs(ladders.get(path)) }));
	return {
		chainId,
		...ofBlock,
		fees: { ...ownFees, l1: seen.l1 },
		assets: new Map(
			deployment.assets.map((asset) => [
				asset.address,
				{ feed: feedOf(asset), buy: laddersOf(asset, "buy"), sell: laddersOf(asset, "sell") },
			]),
		),
		feeds: seen.feeds,
		...(seen.sequencer && { sequencer: seen.sequencer }),
		reading: { pools, ladders, callGas: nextCallGas, light, answer, references: referencesText },
	};

	/** Makes the light call. If the node refuses its gas, the call is made again without any ladder. */
	async function readLight(): Promise<{ light: LightCall; answer: Hex }> {
		const moving = movingQuotes(before?.ladders, callGas);
		try {
			return await readLightWith(moving);
		} catch (error) {
			if (moving.length === 0 || !isOutOfGas(error)) throw error;
			callGas = greater(callGas / 2n, minCallGas);
			return readLightWith([]);
		}
	}

	async function readLightWith(quotes: readonly QuoteQuestion[]): Promise<{ light: LightCall; answer: Hex }> {
		const key = [topUsd, ...feeds, ...pools.keys(), ...quotes.map(quoteKey)].join();
		const light =
			before?.light.key === key ? before.light : encodeLight(chain, { feeds, pools, quotes, key });
		return { light, answer: await callEncoded(chain, light.callData, { blockNumber }) };
	}
}

/** Returns the pools of all paths. Pools that did not exist before are requested again. */
async function knownPools(
	chain: EvmChain,
	{ blockNumber, before }: { blockNumber: bigint; before: Reading | undefined },
): Promise<ReadonlyMap<string, Pool>> {
	const known = before?.pools;
	const paths = ladderQuestions(chain.deployment, { usdE18Of: () => 0n, topUsd: 0 });
	const all = new Map(paths.flatMap(({ path }) => poolsOnPath(path).map((id) => [poolKey(id), id])));
	const missing = [...all].filter(([key]) => !known?.has(key)).map(([, id]) => id);
	if (known && missing.length === 0) return known;
	return new Map([...(known ?? []), ...(await findPools(chain, { ids: missing, blockNumber }))]);
}

/** Returns the rungs before the first size without a quote. From that size on, nothing is known. */
function answeredRungs(ladder: KnownLadder | undefined): Rung[] {
	if (!ladder) return [];
	const rungs = ladder.question.inputs.map((input, i) => ({ input, output: ladder.quotes[i]?.output ?? 0n }));
	const dry = rungs.findIndex(({ output }) => output === 0n);
	return dry === -1 ? rungs : rungs.slice(0, dry);
}
