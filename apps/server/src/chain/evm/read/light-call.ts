import { rescaleDown, type Seconds, type UsdE18 } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, parseAbi } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { feeModelOf, type L1Rates } from "../fee/fee-model.ts";
import { encodeViews, type ViewResult, wordsOf } from "./call-multicall.ts";
import { type Pool, poolKey, stateText, stateViews, viewsPerPool } from "./pool-states.ts";
import { decodeQuote, type Quote, type QuoteQuestion, quoteKey, quoteView } from "./request-quotes.ts";

/** A feed's answer with 18 decimals, and when it was given, by the chain's clock. Zero if it gave no price. */
export type FeedAnswer = { usdE18: UsdE18; updatedAtUnixSeconds: Seconds };

/** The answer of a rollup's uptime feed. A feed that does not answer counts as down. */
export type SequencerStatus = { isUp: boolean; sinceUnixSeconds: Seconds };

/**
 * The call that is made at every block: the feeds, the state of every pool, and ladders of pools that keep changing.
 */
export type LightCall = {
	feeds: readonly Address[];
	sequencerFeed: Address | undefined;
	pools: readonly Pool[];
	quotes: readonly QuoteQuestion[];
	/** The content of the call as a text. Equal texts mean equal calls. */
	key: string;
	callData: Hex;
};

const feedAbi = parseAbi([
	"function decimals() view returns (uint8)",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
const decimalsCall = encodeFunctionData({ abi: feedAbi, functionName: "decimals" });
const roundCall = encodeFunctionData({ abi: feedAbi, functionName: "latestRoundData" });

export function encodeLight(
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

export type LightAnswer = {
	feeds: Map<Address, FeedAnswer>;
	sequencer: SequencerStatus | undefined;
	/** Each pool's state, by its key. */
	states: Map<string, string>;
	/** Quotes of the ladders that were part of the call. */
	quotes: Map<string, Quote>;
	l1: L1Rates;
};

export function decodeLight(
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

export const noAnswer: FeedAnswer = { usdE18: 0n, updatedAtUnixSeconds: 0 };

/** Decodes the words of an uptime feed's `latestRoundData`. Its answer is 0 while the sequencer is up. */
function sequencerStatus([, answer, startedAt = 0n]: bigint[]): SequencerStatus {
	// A feed that was never written has no start, so its answer means nothing.
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
