import type { Meter } from "./meter.ts";

const secondsBounds = [1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

type SwapRoute = { originChainId: bigint; destinationChainId: bigint };

/** The metrics of swaps, recorded by the code that moves them. */
export type SwapMetrics = {
	/** The swap came to a stage, or to a status that ends it. */
	moved: (swap: SwapRoute, to: string) => void;
	/** The swap's status will not change any more, `seconds` after it was submitted. */
	decided: (swap: SwapRoute, decision: { status: string; seconds: number }) => void;
	/** A chain's second provider was asked for a deposit. */
	secondAsked: (chainId: number, word: string) => void;
};

/** The answers that a chain's second provider may give about a deposit. */
const secondWords = ["agrees", "behind", "differs", "silent"];

export function swapMetrics(
	meter: Meter,
	{
		secondProvidersOf,
	}: { /** Chains on which two providers must have a large deposit. */ secondProvidersOf: readonly number[] },
): SwapMetrics {
	const countMove = meter.counter(
		"geoswap_swap_moves_total",
		"Swaps that reached a stage or a final status, by route",
	);
	const observe = meter.histogram(
		"geoswap_swap_duration_seconds",
		"Time from a swap's submit to its final status",
		secondsBounds,
	);
	const countSecond = meter.counter(
		"geoswap_second_provider_answers_total",
		"Answers of second providers about deposits: agrees, behind, differs (a person must look) or silent",
		secondProvidersOf.flatMap((chainId) => secondWords.map((word) => ({ chain: String(chainId), word }))),
	);
	return {
		moved: (swap, to) => countMove({ ...labelsOf(swap), to }),
		decided: (swap, { status, seconds }) => observe(seconds, { ...labelsOf(swap), status }),
		secondAsked: (chainId, word) => countSecond({ chain: String(chainId), word }),
	};
}

function labelsOf({ originChainId, destinationChainId }: SwapRoute) {
	return { origin: String(originChainId), destination: String(destinationChainId) };
}
