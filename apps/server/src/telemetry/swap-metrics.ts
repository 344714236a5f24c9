import { failureCodes } from "@geoswap/protocol";
import type { Meter } from "./meter.ts";

const secondsBounds = [1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

type SwapRoute = { originChainId: bigint; destinationChainId: bigint };

/** A token that swaps are paid out in, as its vault holds it. */
export type PayoutToken = {
	chainId: number;
	token: string;
	symbol: string;
	decimals: number;
	/** True if other tokens of the chain are bought with it. */
	isSettlement: boolean;
};

/** The metrics of swaps, recorded by the code that moves them. */
export type SwapMetrics = {
	/** Counts that the swap reached a stage, or a status that ends it. */
	moved: (swap: SwapRoute, to: string) => void;
	/** Counts that the swap's status is final, `seconds` after it was submitted. */
	decided: (swap: SwapRoute, decision: { status: string; seconds: number }) => void;
	/** Counts that the swap's output will not be delivered. */
	givenUp: (swap: SwapRoute, code: string) => void;
	/** Counts what left a vault for a settled swap. `token` may be `settlement`, for the chain's settlement token. */
	paidOut: (payout: { chainId: bigint; token: string; amount: bigint }) => void;
	/** Counts a cross-check of a deposit by a chain's second provider. */
	secondAsked: (chainId: number, word: string) => void;
};

/** The results of a cross-check by a chain's second provider. */
const secondWords = ["agrees", "behind", "differs", "silent"];

export function swapMetrics(
	meter: Meter,
	{
		chainIds,
		secondProvidersOf,
		payoutTokens,
	}: {
		chainIds: readonly number[];
		/** Chains on which two providers must have a large deposit. */
		secondProvidersOf: readonly number[];
		payoutTokens: readonly PayoutToken[];
	},
): SwapMetrics {
	const routes = chainIds.flatMap((origin) =>
		chainIds.map((destination) => ({ origin: String(origin), destination: String(destination) })),
	);
	const countMove = meter.counter(
		"geoswap_swap_moves_total",
		"Swaps that reached a stage or a final status, by route",
		// Only those that alerts compare, because a route without swaps has no other series.
		routes.flatMap((route) => ["settled", "refunded"].map((to) => ({ ...route, to }))),
	);
	const countGivenUp = meter.counter(
		"geoswap_swaps_given_up_total",
		"Swaps whose output will not be delivered, by destination and reason",
		chainIds.flatMap((chainId) => failureCodes.map((code) => ({ destination: String(chainId), code }))),
	);
	const tokens = new Map<string, { labels: { chain: string; token: string }; decimals: number }>(
		payoutTokens.flatMap(({ chainId, token, symbol, decimals, isSettlement }) => {
			const counted = { labels: { chain: String(chainId), token: symbol }, decimals };
			return [token.toLowerCase(), ...(isSettlement ? ["settlement"] : [])].map(
				(name) => [`${chainId}:${name}`, counted] as const,
			);
		}),
	);
	const countPaidOut = meter.counter(
		"geoswap_paid_out_tokens_total",
		"Amount that left a vault for swaps that were settled, in whole tokens",
		[...tokens.values()].map(({ labels }) => labels),
	);
	const observe = meter.histogram(
		"geoswap_swap_duration_seconds",
		"Time from a swap's submit to its final status",
		secondsBounds,
	);
	const countSecond = meter.counter(
		"geoswap_second_provider_answers_total",
		"Answers of second providers about deposits: agrees, behind, differs (an operator must check) or silent",
		secondProvidersOf.flatMap((chainId) => secondWords.map((word) => ({ chain: String(chainId), word }))),
	);
	return {
		moved: (swap, to) => countMove({ ...labelsOf(swap), to }),
		givenUp: ({ destinationChainId }, code) =>
			countGivenUp({ destination: String(destinationChainId), code }),
		paidOut: ({ chainId, token, amount }) => {
			const known = tokens.get(`${chainId}:${token.toLowerCase()}`);
			// A token that is no longer configured has no vault to watch.
			if (known) countPaidOut(known.labels, Number(amount) / 10 ** known.decimals);
		},
		decided: (swap, { status, seconds }) => observe(seconds, { ...labelsOf(swap), status }),
		secondAsked: (chainId, word) => countSecond({ chain: String(chainId), word }),
	};
}

function labelsOf({ originChainId, destinationChainId }: SwapRoute) {
	return { origin: String(originChainId), destination: String(destinationChainId) };
}
