import { type Amount, greater } from "@geoswap/protocol";
import { BaseError, encodeFunctionData, type Hex, parseAbi, prepareEncodeFunctionData } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { callViews, type View, type ViewResult, wordsOf } from "./call-multicall.ts";

/** One size on one path. */
export type QuoteQuestion = {
	path: Hex;
	input: Amount;
	/** The gas that the last quote of this size took; undefined if there was none. */
	gas: bigint | undefined;
};

/** The output, and the gas that a quote of this size takes. The output is zero if there is no quote. */
export type Quote = { output: Amount; gas: bigint | undefined };

// The deployed function is not a view, since it swaps and reverts. For an `eth_call` that makes no difference.
const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) view returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);
// Prepared once, because viem otherwise hashes the function's name at each call.
const quoteExactInput = prepareEncodeFunctionData({ abi: quoterAbi, functionName: "quoteExactInput" });

/** The maximum gas of one call for prices, which is half of what geth allows by default. */
export const defaultCallGas = 25_000_000n;
export const minCallGas = 500_000n;
/** The estimate for a size that was never quoted, since a large one crosses many ticks. */
const unknownQuoteGas = 600_000n;
/** The gas that the multicall and the quoter use themselves for each quote. */
const gasPerQuote = 40_000n;
/** Each round settles at least one quote of every call, so this bounds the calls that dead pools cost. */
const maxRounds = 12;

export function quoteView(
	{ deployment }: EvmChain,
	{ path, input }: Pick<QuoteQuestion, "path" | "input">,
): View {
	return {
		target: deployment.uniswap.quoterV2,
		callData: encodeFunctionData({ ...quoteExactInput, args: [path, input] }),
	};
}

/** Decodes the quoter's answer; undefined if the call failed. */
export function decodeQuote(result: ViewResult | undefined): Quote | undefined {
	const [output, , , gas] = wordsOf(result);
	return output === undefined ? undefined : { output, gas };
}

/** Returns a rough upper bound of the gas that the question takes. */
export function quoteGas({ gas }: Pick<QuoteQuestion, "gas">): bigint {
	return gasPerQuote + (gas === undefined ? unknownQuoteGas : (gas * 5n) / 4n);
}

export function quoteKey({ path, input }: Pick<QuoteQuestion, "path" | "input">): string {
	return `${path}:${input}`;
}

/**
 * Quotes all questions as of one block, in as many calls as `callGas` requires, and returns the limit that the node
 * turned out to have. A node with a lower limit either refuses the call or lets the last quotes in it fail, which looks
 * like a pool without liquidity. So a quote counts as failed only if it was the first of its call.
 */
export async function requestQuotes(
	chain: EvmChain,
	{
		blockNumber,
		questions,
		callGas,
	}: {
		blockNumber: bigint;
		/** Sizes of the same path are in ascending order. */
		questions: readonly QuoteQuestion[];
		callGas: bigint;
	},
): Promise<{ quotes: Map<string, Quote>; callGas: bigint }> {
	const quotes = new Map<string, Quote>();
	const failedOnce = new Set<QuoteQuestion>();
	let pending = questions;
	for (let round = 0; pending.length > 0 && round < maxRounds; round++) {
		const asked = await Promise.all(splitByGas(pending, callGas).map((call) => ask(call)));
		if (asked.some(({ isTooLarge }) => isTooLarge)) callGas = greater(callGas / 2n, minCallGas);
		pending = asked.flatMap(({ again }) => again);
		for (const question of pending) failedOnce.add(question);
	}
	return { quotes, callGas };

	async function ask(
		call: readonly QuoteQuestion[],
	): Promise<{ again: readonly QuoteQuestion[]; isTooLarge: boolean }> {
		const views = call.map((question) => quoteView(chain, question));
		let results: readonly ViewResult[];
		try {
			results = await callViews(chain, { views, blockNumber });
		} catch (error) {
			if (!isOutOfGas(error)) throw error;
			return { again: call.length > 1 ? call : [], isTooLarge: true };
		}
		const isFirstQuoted = decodeQuote(results[0]) !== undefined;
		const again: QuoteQuestion[] = [];
		let isTooLarge = false;
		for (const [i, question] of call.entries()) {
			const quote = decodeQuote(results[i]);
			if (quote) {
				quotes.set(quoteKey(question), quote);
				if (failedOnce.has(question)) isTooLarge = true;
			} else if (isFirstQuoted || question.path !== call[0]?.path) {
				again.push(question);
			}
			// Otherwise it is the first one, or a larger size on the same path. Nothing above a failed size is used.
		}
		return { again, isTooLarge };
	}
}

/** Returns true if the node did not run a call to its end because it takes too much gas or time. */
export function isOutOfGas(error: unknown): boolean {
	if (!(error instanceof BaseError)) return false;
	const text = `${error.message} ${error.details}`;
	return /out of gas|outofgas|gas (limit|required|uint64)|exceeds .*gas|execution aborted|execution timeout/i.test(
		text,
	);
}

function splitByGas(questions: readonly QuoteQuestion[], callGas: bigint): QuoteQuestion[][] {
	const calls: QuoteQuestion[][] = [];
	let left = 0n;
	for (const question of questions) {
		const gas = quoteGas(question);
		if (gas > left || calls.length === 0) {
			calls.push([]);
			left = callGas;
		}
		calls.at(-1)?.push(question);
		left -= gas;
	}
	return calls;
}
