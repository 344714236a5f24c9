import {
	type Amount,
	type AssetDeployment,
	type ChainDeployment,
	rescaleDown,
	type Seconds,
	type UsdE18,
	vaultPath,
	type Wei,
} from "@geoswap/protocol";
import {
	type Address,
	concat,
	decodeFunctionResult,
	encodeFunctionData,
	type Hex,
	hexToBigInt,
	multicall3Abi,
	parseAbi,
	prepareEncodeFunctionData,
	size,
	slice,
} from "viem";
import type { EvmChain } from "../chain-client.ts";
import { callMulticall, encodeViews } from "./call-multicall.ts";

/** The output that a path of pools pays for one size of input. */
export type Rung = { input: Amount; output: Amount };

/** A path's outputs, by ascending size. The fee tiers are in the direction away from the settlement token. */
export type Ladder = { fees: number[]; rungs: Rung[] };

/** A feed's answer with 18 decimals, and when it was given, by the chain's clock. Zero if it gave no price. */
export type FeedAnswer = { usdE18: UsdE18; updatedAtUnixSeconds: Seconds };

export type AssetPrices = {
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
	baseFee: Wei;
	assets: Map<Address, AssetPrices>;
	/** Every feed that was read, by its address: those of the assets, and those that price assets of other chains. */
	feeds: Map<Address, FeedAnswer>;
	/** The call that read them, and its answer. If both are the same at the next block, so are the prices. */
	reading?: { asked: Asked; answer: Hex };
};

type Block = { hash: Hex; number: bigint; timestamp: bigint; baseFeePerGas: bigint | null };

// On the chain the function is not a view: it swaps and reverts. For an `eth_call` that makes no difference.
const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) view returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);
const feedAbi = parseAbi([
	"function decimals() view returns (uint8)",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
// viem hashes function names at each call: this one is hashed once.
const quoteExactInput = prepareEncodeFunctionData({ abi: quoterAbi, functionName: "quoteExactInput" });
const decimalsCall = encodeFunctionData({ abi: feedAbi, functionName: "decimals" });
const roundCall = encodeFunctionData({ abi: feedAbi, functionName: "latestRoundData" });

/** Divisors of the top size, one for each rung: eight sizes, each a bit less than five times the one below. */
const rungDivisors = [50_000n, 10_000n, 2_500n, 500n, 100n, 20n, 4n, 1n];

/**
 * Reads all pools and feeds of a chain as of one block, with one call. The amount of an asset that is worth `topUsd`
 * comes from `previous`, since sizes must be known before the call; without it the feeds are read first. At most blocks
 * nothing has changed: then nothing is encoded or decoded again.
 */
export async function readBlockPrices(
	chain: EvmChain,
	{
		block,
		topUsd,
		previous,
		feedsForOthers = [],
	}: {
		block: Block;
		topUsd: number;
		previous?: BlockPrices | undefined;
		/** Feeds on this chain that price assets of chains without any. */
		feedsForOthers?: readonly Address[];
	},
): Promise<BlockPrices> {
	const { deployment } = chain;
	const feeds = [...new Set([...deployment.assets.map(({ feed }) => feed.address), ...feedsForOthers])];
	const known = previous ?? (await readAsked(chain, { block, asked: ask(chain, { feeds, questions: [] }) }));
	const answers = new Map([...known.assets].map(([asset, { feed }]) => [asset, feed]));
	const sizedBy = [topUsd, ...feeds, ...[...answers.values()].map(({ usdE18 }) => usdE18)].join();
	const askedBefore = previous?.reading?.asked;
	const asked =
		askedBefore?.sizedBy === sizedBy
			? askedBefore
			: ask(chain, { feeds, questions: ladderQuestions(deployment, answers, topUsd), sizedBy });
	return readAsked(chain, { block, asked, previous });
}

type Question = { asset: Address; direction: "buy" | "sell"; fees: number[]; path: Hex; inputs: bigint[] };

/** The encoded call that asks for many prices at once. */
type Asked = {
	feeds: readonly Address[];
	questions: readonly Question[];
	quoteKeys: readonly string[];
	/** The feeds and their prices that the sizes were computed from, as a text. */
	sizedBy: string | undefined;
	callData: Hex;
};

function ask(
	{ deployment }: EvmChain,
	{ feeds, questions, sizedBy }: Pick<Asked, "feeds" | "questions"> & { sizedBy?: string },
): Asked {
	// Assets that share their pools, as the native token and the wrapped one do, are asked for once.
	const quotes = new Map(
		questions.flatMap(({ path, inputs }) =>
			inputs.map((input) => [quoteKey(path, input), [path, input]] as const),
		),
	);
	const calls = [
		...feeds.flatMap((target) => [
			{ target, callData: decimalsCall },
			{ target, callData: roundCall },
		]),
		...[...quotes.values()].map((args) => ({
			target: deployment.uniswap.quoterV2,
			callData: encodeFunctionData({ ...quoteExactInput, args }),
		})),
	];
	return {
		feeds,
		questions,
		quoteKeys: [...quotes.keys()],
		sizedBy,
		callData: encodeViews(calls, { allowFailure: true }),
	};
}

async function readAsked(
	chain: EvmChain,
	{ block, asked, previous }: { block: Block; asked: Asked; previous?: BlockPrices | undefined },
): Promise<BlockPrices> {
	const { chainId, deployment } = chain;
	const answer = await callMulticall(chain, asked.callData, { blockNumber: block.number });
	if (answer === "0x")
		throw new Error(
			`chain ${chainId} has no Multicall3 at its usual address, which is needed to read prices`,
		);
	const ofBlock = {
		blockHash: block.hash,
		blockNumber: Number(block.number),
		timestampUnixSeconds: Number(block.timestamp),
		baseFee: block.baseFeePerGas ?? 0n,
	};
	if (previous?.reading?.asked === asked && previous.reading.answer === answer) {
		return { ...previous, ...ofBlock };
	}
	const results = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: answer });
	if (!results.some(({ success }) => success)) {
		throw new Error(`no feed and no pool of chain ${chainId} has answered: are their addresses right?`);
	}
	const words = (i: number) => wordsOf(results[i]);
	const { feeds, questions, quoteKeys } = asked;
	const feedAnswers = new Map(
		feeds.map((address, i) => [address, feedAnswer(words(2 * i), words(2 * i + 1))]),
	);
	const outputs = new Map(quoteKeys.map((key, i) => [key, words(2 * feeds.length + i)[0] ?? 0n]));
	const laddersOf = ({ address }: AssetDeployment, direction: Question["direction"]): Ladder[] =>
		questions
			.filter((question) => question.asset === address && question.direction === direction)
			.map(({ fees, path, inputs }) => ({
				fees,
				rungs: answeredRungs(
					inputs.map((input) => ({ input, output: outputs.get(quoteKey(path, input)) ?? 0n })),
				),
			}));
	return {
		chainId,
		...ofBlock,
		assets: new Map(
			deployment.assets.map((asset) => [
				asset.address,
				{
					feed: feedAnswers.get(asset.feed.address) ?? noAnswer,
					buy: laddersOf(asset, "buy"),
					sell: laddersOf(asset, "sell"),
				},
			]),
		),
		feeds: feedAnswers,
		reading: { asked, answer },
	};
}

/** Returns the words of an answer; none if the call failed. */
function wordsOf(result: { success: boolean; returnData: Hex } | undefined): bigint[] {
	if (!result?.success) return [];
	const { returnData } = result;
	return Array.from({ length: Math.floor(size(returnData) / 32) }, (_, i) =>
		hexToBigInt(slice(returnData, i * 32, i * 32 + 32)),
	);
}

function ladderQuestions(
	deployment: ChainDeployment,
	feeds: Map<Address, FeedAnswer>,
	topUsd: number,
): Question[] {
	const settlement = deployment.assets.find(({ address }) => address === deployment.settlementToken);
	if (!settlement) throw new RangeError(`chain ${deployment.chainId} has no settlement token`);
	return deployment.assets.flatMap((asset) =>
		asset.paths.flatMap((fees) => {
			const path = vaultPath(deployment, { asset: asset.address, fees });
			return [
				{ asset: asset.address, direction: "buy" as const, fees, path, inputs: sizesOf(settlement) },
				{
					asset: asset.address,
					direction: "sell" as const,
					fees,
					path: reversePath(path),
					inputs: sizesOf(asset),
				},
			];
		}),
	);

	function sizesOf({ address, decimals }: AssetDeployment): bigint[] {
		const usdE18 = feeds.get(address)?.usdE18 ?? 0n;
		if (usdE18 === 0n) return [];
		const top = (BigInt(Math.round(topUsd)) * 10n ** BigInt(18 + decimals)) / usdE18;
		return [...new Set(rungDivisors.map((divisor) => top / divisor))].filter((input) => input > 0n);
	}
}

/** Reverses a path: an address, and for each further pool its fee in three bytes and the next address. */
function reversePath(path: Hex): Hex {
	const pools = (size(path) - 20) / 23;
	const token = (i: number) => slice(path, i * 23, i * 23 + 20);
	const fee = (i: number) => slice(path, i * 23 + 20, i * 23 + 23);
	const backward = Array.from({ length: pools }, (_, i) => pools - 1 - i);
	return concat([token(pools), ...backward.flatMap((i) => [fee(i), token(i)])]);
}

/** Returns the rungs before the first size without a quote: from that size on, nothing is known. */
function answeredRungs(rungs: Rung[]): Rung[] {
	const dry = rungs.findIndex(({ output }) => output === 0n);
	return dry === -1 ? rungs : rungs.slice(0, dry);
}

function quoteKey(path: Hex, input: Amount): string {
	return `${path}:${input}`;
}

const noAnswer: FeedAnswer = { usdE18: 0n, updatedAtUnixSeconds: 0 };

/** Decodes the words of `decimals` and of `latestRoundData`. */
function feedAnswer([decimals]: bigint[], [, answer, , updatedAt]: bigint[]): FeedAnswer {
	if (decimals === undefined || decimals > 255n || answer === undefined || updatedAt === undefined) {
		return noAnswer;
	}
	const price = BigInt.asIntN(256, answer);
	if (price <= 0n) return noAnswer;
	return { usdE18: rescaleDown(price, Number(decimals), 18), updatedAtUnixSeconds: Number(updatedAt) };
}
