import type { EvmChain } from "../../chain/evm/chain-client.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";
import { keepBook } from "./keep-book.ts";
import { createPriceBook, type PriceBook } from "./price-book.ts";

/** Returns the book of all configured chains, kept fresh until the signal aborts. `kept` settles when reading ends. */
export function keepPrices({
	config: { chains: configs, solana, price },
	chains,
	nowMs,
	signal,
	log,
}: {
	config: Pick<Config, "chains" | "solana" | "price">;
	chains: readonly EvmChain[];
	nowMs: () => number;
	signal: AbortSignal;
	log: Log;
}): { book: PriceBook; kept: Promise<unknown> } {
	const book = createPriceBook({
		chains: chains.map((chain) => chain.deployment),
		solana,
		feedMarginBps: price.feedMarginBps,
		feedDeviationBps: price.feedDeviationBps,
	});
	const loops = configs.map(({ chainId, pollMs }) => {
		const chain = chains.find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} is not connected`);
		const feedsForOthers = (solana?.deployment.assets ?? [])
			.filter(({ feed }) => feed.chainId === chainId)
			.map(({ feed }) => feed.address);
		return keepBook({
			chain,
			book,
			topUsd: price.ladderTopUsd,
			feedsForOthers,
			pollMs,
			nowMs,
			signal,
			log,
		});
	});
	return { book, kept: Promise.all(loops) };
}
