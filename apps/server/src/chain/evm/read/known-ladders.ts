import { greater, type Seconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { type LadderQuestion, poolsOnPath } from "./ladder-questions.ts";
import type { LightAnswer, LightCall } from "./light-call.ts";
import { poolKey } from "./pool-states.ts";
import {
	minCallGas,
	type Quote,
	type QuoteQuestion,
	quoteGas,
	quoteKey,
	requestQuotes,
} from "./request-quotes.ts";

/** A path's quotes, and the state of its pools when the quotes were requested. */
export type KnownLadder = {
	question: LadderQuestion;
	quotes: readonly (Quote | undefined)[];
	/** The pools' states; undefined if one of them does not exist. */
	states: string | undefined;
	askedAtUnixSeconds: Seconds;
	/** Blocks that were read since the pools changed. */
	quietReadings: number;
};

/** Ladders by path. */
export type KnownLadders = ReadonlyMap<Hex, KnownLadder>;

/**
 * The age at which a ladder is requested again although its pools look unchanged. Only liquidity that was removed away
 * from the price, and is not yet collected, is found as late as this. A quote is valid for as long, so it promises no
 * more than one that was given just before the removal.
 */
export const ladderMaxAgeSeconds = 30;

/** Ladders of pools that changed within this many readings are requested in the light call, without a second call. */
const movingReadings = 3;

/** Returns whether the age of any ladder requires that it is requested again. */
export function isAnyDue(ladders: KnownLadders, nowUnixSeconds: Seconds): boolean {
	return [...ladders.values()].some((ladder) => isDue(ladder, nowUnixSeconds));
}

/**
 * Returns the ladders of all paths, and requests those that may have changed. Also returns the maximum gas of one call
 * at this node, as far as it is known.
 */
export async function readLadders(
	chain: EvmChain,
	{
		questions,
		before,
		light,
		answer: { states, quotes },
		blockNumber,
		nowUnixSeconds,
		callGas,
	}: {
		questions: readonly LadderQuestion[];
		before: KnownLadders | undefined;
		light: Pick<LightCall, "quotes">;
		answer: Pick<LightAnswer, "states" | "quotes">;
		blockNumber: bigint;
		nowUnixSeconds: Seconds;
		callGas: bigint;
	},
): Promise<{ ladders: KnownLadders; callGas: bigint }> {
	// Ladders of assets that share pools, as the native token and the wrapped one do, are requested once.
	const byPath = new Map(questions.map((question) => [question.path, question]));
	const ladders = new Map<Hex, KnownLadder>();
	const stale: LadderQuestion[] = [];
	for (const question of byPath.values()) {
		const known = before?.get(question.path);
		const ofPools = poolsOnPath(question.path).map((id) => states.get(poolKey(id)));
		const now = ofPools.includes(undefined) ? undefined : ofPools.join(";");
		const hasMoved = known !== undefined && known.states !== now;
		const quietReadings = hasMoved ? 0 : (known?.quietReadings ?? movingReadings) + 1;
		const ladder = { question, states: now, quietReadings, askedAtUnixSeconds: nowUnixSeconds };
		const isSameSized = known !== undefined && isSameSizes(known.question, question);
		const asked = question.inputs.map((input) => quotes.get(quoteKey({ ...question, input })));
		// In the light call, a failed size counts as failed only if it failed the last time too. Else it may have lacked
		// gas.
		const isAnswered =
			light.quotes.some(({ path }) => path === question.path) &&
			asked.every((quote, i) => quote || (isSameSized && !known.quotes[i]));
		if (now === undefined) ladders.set(question.path, { ...ladder, quotes: [] });
		else if (isSameSized && !hasMoved && !isDue(known, nowUnixSeconds))
			ladders.set(question.path, { ...known, question, quietReadings });
		else {
			ladders.set(question.path, { ...ladder, quotes: asked });
			if (!isAnswered) stale.push(question);
		}
	}
	const asked = await requestQuotes(chain, {
		blockNumber,
		questions: stale.flatMap(({ path, inputs }) => sizesToAsk(before, { path, inputs })),
		callGas,
	});
	// A quote that failed in the light call, but not in a separate call, had too little gas left.
	const hadTooLittle = light.quotes.some(
		(quote) => !quotes.has(quoteKey(quote)) && asked.quotes.has(quoteKey(quote)),
	);
	for (const { path, inputs } of stale) {
		const ladder = ladders.get(path);
		if (!ladder) continue;
		const quotes = inputs.map((input) => asked.quotes.get(quoteKey({ path, input })));
		ladders.set(path, { ...ladder, quotes });
	}
	return { ladders, callGas: hadTooLittle ? greater(asked.callGas / 2n, minCallGas) : asked.callGas };
}

/** Returns the quotes of ladders whose pools keep changing, as many as one call can take beside its other parts. */
export function movingQuotes(before: KnownLadders | undefined, callGas: bigint): QuoteQuestion[] {
	let left = callGas / 2n;
	return [...(before?.values() ?? [])]
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
	before: KnownLadders | undefined,
	{ path, inputs }: Pick<LadderQuestion, "path" | "inputs">,
): QuoteQuestion[] {
	const known = before?.get(path);
	return inputs.map((input, i) => ({ path, input, gas: known?.quotes[i]?.gas }));
}

function isSameSizes(one: LadderQuestion, other: LadderQuestion): boolean {
	return one.inputs.join() === other.inputs.join();
}

function isDue({ askedAtUnixSeconds }: KnownLadder, nowUnixSeconds: Seconds): boolean {
	return nowUnixSeconds - askedAtUnixSeconds >= ladderMaxAgeSeconds;
}
