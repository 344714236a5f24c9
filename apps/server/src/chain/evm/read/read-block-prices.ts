import {
	type Amount,
	type AssetDeployment,
	greater,
	rescaleDown,
	type Seconds,
	type UsdE18,
} from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, parseAbi } from "viem";
import type { EvmChain } from "../chain-client.ts";
import type { FeeRates, L1Rates } from "../fee/fee-model.ts";
import { feeModelOf } from "../fee/fee-model-of.ts";
import { readTipAt, type TipBounds } from "../fee/read-tip.ts";
import {
	askQuotes,
	decodeQuote,
	defaultCallGas,
	isOutOfGas,
	leastCallGas,
	type Quote,
	type QuoteQuestion,
	quoteGas,
	quoteKey,
	quoteView,
} from "./ask-quotes.ts";
import { encodeViews } from "./call-multicall.ts";
import { callEncoded, decodeViews, type ViewResult, wordsOf } from "./call-views.ts";
import { type LadderQuestion, ladderQuestions, poolsOnPath } from "./ladder-questions.ts";
import { findPools, type Pool, poolKey, stateText, stateViews, viewsPerPool } from "./pool-states.ts";

/** The output that a path of pools pays for one size of input. */
export type Rung = { input: Amount; output: Amount };

/** A path's outputs, by ascending size. The fee tiers are in the direction away from the settlement token. */
export type Ladder = { fees: number[]; rungs: Rung[] };

/** A feed's answer with 18 decimals, and when it was given, by the chain's clock. Zero if it gave no price. */
export type FeedAnswer = { usdE18: UsdE18; updatedAtUnixSeconds: Seconds };

/** The answer of a rollup's uptime feed. A feed that does not answer counts as down. */
export type SequencerStatus = { isUp: boolean; sinceUnixSeconds: Seconds };

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
	/** Remembered for the next block, which asks only for what has changed. */
	reading?: Reading;
};

type Block = { hash: Hex; number: bigint; timestamp: bigint; baseFeePerGas: bigint | null };

/** The call that is made at every block: the feeds, the state of every pool, and ladders of pools that keep changing. */
type LightCall = {
	feeds: readonly Address[];
	sequencerFeed: Address | undefined;
	pools: readonly Pool[];
	quotes: readonly QuoteQuestion[];
	/** The three above and the sizes, as a text: equal texts are equal calls. */
	key: string;
	callData: Hex;
};

/** A path's quotes, and the state of its pools when they were asked for. */
type KnownLadder = {
	question: LadderQuestion;
	quotes: readonly (Quote | undefined)[];
	/** The pools' states; undefined if one of them does not exist. */
	states: string | undefined;
	askedAtUnixSeconds: Seconds;
	/** Blocks that were read since the pools changed. */
	quietReadings: number;
};

type Reading = {
	pools: ReadonlyMap<string, Pool>;
	/** By path. */
	ladders: ReadonlyMap<Hex, KnownLadder>;
	/** The most gas that one call may take at this node. */
	callGas: bigint;
	light: LightCall;
	answer: Hex;
	/** The prices from elsewhere, as a text. */
	references: string;
};

const feedAbi = parseAbi([
	"function decimals() view returns (uint8)",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
const decimalsCall = encodeFunctionData({ abi: feedAbi, functionName: "decimals" });
const roundCall = encodeFunctionData({ abi: feedAbi, functionName: "latestRoundData" });

/**
 * The age at which a ladder is asked for again although its pools look unchanged. Only liquidity that was removed away
 * from the price, and not yet collected, is found no sooner. A quote is valid as long, so it promises no more than one
 * that was given just before the removal.
 */
export const ladderMaxAgeSeconds = 30;

/** Ladders of pools that changed within this many readings are asked for in the light call, without a second one. */
const movingReadings = 3;

const noTips: TipBounds = { minimum: 0n, maximum: 0n };

/**
 * Reads all pools and feeds of a chain as of one block. Ladders are asked for only if a pool on their path has changed
 * since `previous`, or if their sizes have: at a quiet block one call reads the feeds and the pools' states. The result
 * is the same as without `previous`, except for what `ladderMaxAgeSeconds` says.
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
	const pools = before && !isAnyDue(before) ? before.pools : await knownPools(chain, { blockNumber, before });
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
	if (previous && before && isSame && !isAnyDue(before)) {
		return { ...previous, ...ofBlock, fees: { ...ownFees, l1: previous.fees.l1 } };
	}
	const results = decodeViews(answer);
	// Pools that are known were found by the factory.
	if (pools.size === 0 && !results.slice(0, 2 * feeds.length).some(({ success }) => success)) {
		throw new Error(`no feed and no pool of chain ${chainId} has answered: are their addresses right?`);
	}
	const seen = decodeLight(chain, light, results);
	const feedOf = ({ address, feed }: AssetDeployment) =>
		(feed ? seen.feeds.get(feed.address) : references.get(address)) ?? noAnswer;
	const assetFeeds = new Map(deployment.assets.map((asset) => [asset.address, feedOf(asset)]));
	const questions = ladderQuestions(deployment, {
		usdE18Of: (asset) => assetFeeds.get(asset)?.usdE18 ?? 0n,
		topUsd,
	});
	const ladders = await readLadders(questions, seen);
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
		reading: { pools, ladders, callGas, light, answer, references: referencesText },
	};

	/** Makes the light call. If the node refuses it for its gas, it is made again without any ladder. */
	async function readLight(): Promise<{ light: LightCall; answer: Hex }> {
		const moving = movingQuotes(before, callGas);
		try {
			return await readLightWith(moving);
		} catch (error) {
			if (moving.length === 0 || !isOutOfGas(error)) throw error;
			callGas = greater(callGas / 2n, leastCallGas);
			return readLightWith([]);
		}
	}

	async function readLightWith(quotes: readonly QuoteQuestion[]): Promise<{ light: LightCall; answer: Hex }> {
		const key = [topUsd, ...feeds, ...pools.keys(), ...quotes.map(quoteKey)].join();
		const light =
			before?.light.key === key ? before.light : encodeLight(chain, { feeds, pools, quotes, key });
		return { light, answer: await callEncoded(chain, light.callData, { blockNumber }) };
	}

	/** Returns the ladders of all paths, and asks for those that are not known to be as before. */
	async function readLadders(
		questions: readonly LadderQuestion[],
		{ states, quotes }: Pick<LightAnswer, "states" | "quotes">,
	): Promise<Map<Hex, KnownLadder>> {
		// Assets that share their pools, as the native token and the wrapped one do, are asked for once.
		const byPath = new Map(questions.map((question) => [question.path, question]));
		const ladders = new Map<Hex, KnownLadder>();
		const stale: LadderQuestion[] = [];
		for (const question of byPath.values()) {
			const known = before?.ladders.get(question.path);
			const ofPools = poolsOnPath(question.path).map((id) => states.get(poolKey(id)));
			const now = ofPools.includes(undefined) ? undefined : ofPools.join(";");
			const hasMoved = known !== undefined && known.states !== now;
			const quietReadings = hasMoved ? 0 : (known?.quietReadings ?? movingReadings) + 1;
			const ladder = { question, states: now, quietReadings, askedAtUnixSeconds: nowUnixSeconds };
			const isSameSized = known !== undefined && isSameSizes(known.question, question);
			const asked = question.inputs.map((input) => quotes.get(quoteKey({ ...question, input })));
			// In the light call, a size that failed the last time too has failed. Another may have lacked gas.
			const isAnswered =
				light.quotes.some(({ path }) => path === question.path) &&
				asked.every((quote, i) => quote || (isSameSized && !known.quotes[i]));
			if (now === undefined) ladders.set(question.path, { ...ladder, quotes: [] });
			else if (isSameSized && !hasMoved && !isDue(known))
				ladders.set(question.path, { ...known, question, quietReadings });
			else {
				ladders.set(question.path, { ...ladder, quotes: asked });
				if (!isAnswered) stale.push(question);
			}
		}
		const asked = await askQuotes(chain, {
			blockNumber,
			questions: stale.flatMap(({ path, inputs }) => sizesToAsk(before, { path, inputs })),
			callGas,
		});
		// A quote that failed in the light call, and not in one of its own, had too little gas left.
		const hadTooLittle = light.quotes.some(
			(quote) => !quotes.has(quoteKey(quote)) && asked.quotes.has(quoteKey(quote)),
		);
		callGas = hadTooLittle ? greater(asked.callGas / 2n, leastCallGas) : asked.callGas;
		for (const { path, inputs } of stale) {
			const ladder = ladders.get(path);
			if (!ladder) continue;
			const quotes = inputs.map((input) => asked.quotes.get(quoteKey({ path, input })));
			ladders.set(path, { ...ladder, quotes });
		}
		return ladders;
	}

	function isAnyDue({ ladders }: Reading): boolean {
		return [...ladders.values()].some(isDue);
	}

	function isDue({ askedAtUnixSeconds }: KnownLadder): boolean {
		return nowUnixSeconds - askedAtUnixSeconds >= ladderMaxAgeSeconds;
	}
}

/** Returns the pools of all paths. Those that did not exist before are looked for again. */
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

/** Returns the quotes of ladders whose pools keep changing, as many as one call can take beside the rest. */
function movingQuotes(before: Reading | undefined, callGas: bigint): QuoteQuestion[] {
	let left = callGas / 2n;
	return [...(before?.ladders.values() ?? [])]
		.filter(({ quietReadings }) => quietReadings < movingReadings)
		.flatMap(({ question }) => {
			const quotes = sizesToAsk(before, question);
			const gas = quotes.reduce((sum, quote) => sum + quoteGas(quote), 0n);
			if (gas > left) return [];
			left -= gas;
			return quotes;
		});
}

/** Returns the questions of one path, with the gas that each size took the last time. */
function sizesToAsk(
	before: Reading | undefined,
	{ path, inputs }: Pick<LadderQuestion, "path" | "inputs">,
): QuoteQuestion[] {
	const known = before?.ladders.get(path);
	return inputs.map((input, i) => ({ path, input, gas: known?.quotes[i]?.gas }));
}

function isSameSizes(one: LadderQuestion, other: LadderQuestion): boolean {
	return one.inputs.join() === other.inputs.join();
}

function encodeLight(
	chain: EvmChain,
	{
		feeds,
		pools,
		quotes,
		key,
	}: Pick<LightCall, "feeds" | "quotes" | "key"> & { pools: ReadonlyMap<string, Pool> },
): LightCall {
	const sequencerFeed = chain.deployment.sequencerUptimeFeed;
	const views = [
		...feeds.flatMap((target) => [
			{ target, callData: decimalsCall },
			{ target, callData: roundCall },
		]),
		...(sequencerFeed ? [{ target: sequencerFeed, callData: roundCall }] : []),
		...[...pools.values()].flatMap(stateViews),
		...feeModelOf(chain.deployment).views,
		// Last, so that a node that runs out of gas here has answered everything else.
		...quotes.map((quote) => quoteView(chain, quote)),
	];
	return {
		feeds,
		sequencerFeed,
		pools: [...pools.values()],
		quotes,
		key,
		callData: encodeViews(views, { allowFailure: true }),
	};
}

type LightAnswer = {
	feeds: Map<Address, FeedAnswer>;
	sequencer: SequencerStatus | undefined;
	/** Each pool's state, by its key. */
	states: Map<string, string>;
	/** Quotes of the ladders that were part of the call. */
	quotes: Map<string, Quote>;
	l1: L1Rates;
};

function decodeLight(
	{ deployment }: EvmChain,
	{ feeds, sequencerFeed, pools, quotes }: LightCall,
	results: readonly ViewResult[],
): LightAnswer {
	const sequencerAt = 2 * feeds.length;
	const poolsFrom = sequencerAt + (sequencerFeed ? 1 : 0);
	const { views, l1Rates } = feeModelOf(deployment);
	const feesFrom = poolsFrom + viewsPerPool * pools.length;
	const quotesFrom = feesFrom + views.length;
	return {
		feeds: new Map(
			feeds.map((address, i) => [address, feedAnswer(wordsOf(results[2 * i]), wordsOf(results[2 * i + 1]))]),
		),
		sequencer: sequencerFeed && sequencerStatus(wordsOf(results[sequencerAt])),
		states: new Map(
			pools.map((pool, i) => {
				const from = poolsFrom + viewsPerPool * i;
				return [poolKey(pool), stateText(results.slice(from, from + viewsPerPool))];
			}),
		),
		quotes: new Map(
			quotes.flatMap((question, i) => {
				const quote = decodeQuote(results[quotesFrom + i]);
				return quote ? [[quoteKey(question), quote]] : [];
			}),
		),
		l1: l1Rates(results.slice(feesFrom, quotesFrom).map(wordsOf)),
	};
}

/** Returns the rungs before the first size without a quote: from that size on, nothing is known. */
function answeredRungs(ladder: KnownLadder | undefined): Rung[] {
	if (!ladder) return [];
	const rungs = ladder.question.inputs.map((input, i) => ({ input, output: ladder.quotes[i]?.output ?? 0n }));
	const dry = rungs.findIndex(({ output }) => output === 0n);
	return dry === -1 ? rungs : rungs.slice(0, dry);
}

const noAnswer: FeedAnswer = { usdE18: 0n, updatedAtUnixSeconds: 0 };

/** Decodes the words of an uptime feed's `latestRoundData`: it says 0 while the sequencer is up, and since when. */
function sequencerStatus([, answer, startedAt = 0n]: bigint[]): SequencerStatus {
	// A feed that was never written has no start, and says nothing.
	return { isUp: answer === 0n && startedAt > 0n, sinceUnixSeconds: Number(startedAt) };
}

/** Decodes the words of `decimals` and of `latestRoundData`. */
function feedAnswer([decimals]: bigint[], [, answer, , updatedAt]: bigint[]): FeedAnswer {
	if (decimals === undefined || decimals > 255n || answer === undefined || updatedAt === undefined) {
		return noAnswer;
	}
	const price = BigInt.asIntN(256, answer);
	if (price <= 0n) return noAnswer;
	return { usdE18: rescaleDown(price, Number(decimals), 18), updatedAtUnixSeconds: Number(updatedAt) };
}
