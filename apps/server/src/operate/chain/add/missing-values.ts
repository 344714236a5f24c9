import type { EvmPreset } from "../preset-schema.ts";

/** Tokens that a deployment omits, and why. */
export type LeftOut = { symbol: string; because: string };

/**
 * Returns the settings that an operator must provide before the chain can be added, because nothing that decides
 * about money is guessed. `seenFinalitySeconds` is what the probe measured, to help with the choice.
 */
export function missingValues(
	preset: EvmPreset,
	{ seenFinalitySeconds }: { seenFinalitySeconds: number | undefined },
): string[] {
	const { native, settlementToken, tokens, feeds, terms } = preset;
	const settlement = tokens.find(({ symbol }) => symbol === settlementToken);
	const needed = [...new Set([native.feed, settlement?.feed])];
	const unknown = feeds.filter(
		({ pair, heartbeatSeconds }) => needed.includes(pair) && heartbeatSeconds.value === null,
	);
	const hints: Record<string, string> = {
		finalitySeconds:
			seenFinalitySeconds === undefined
				? "how long a block takes to be final, generously"
				: `how long a block takes to be final, generously; the node's finalized block is ${seenFinalitySeconds} s old now`,
	};
	return [
		...unknown.map(({ pair }) => `--set feeds.${pair}.heartbeatSeconds=<seconds, from data.chain.link>`),
		...Object.entries(terms)
			.filter(([, { value }]) => value === null)
			.map(([name]) => `--set terms.${name}=<${hints[name] ?? "your choice"}>`),
	];
}

/** Returns the tokens that cannot be offered. Without a feed's heartbeat it is unknown when its price is too old. */
export function tokensLeftOut({ tokens, feeds }: EvmPreset): LeftOut[] {
	return tokens.flatMap(({ symbol, feed: pair, noFeedBecause }) => {
		const feed = feeds.find((one) => one.pair === pair);
		if (!feed) return { symbol, because: noFeedBecause ?? "it has no feed" };
		if (feed.heartbeatSeconds.value !== null) return [];
		const because = `the heartbeat of ${pair} is unknown; give it with --set feeds.${pair}.heartbeatSeconds=<seconds>`;
		return { symbol, because };
	});
}
