import type { Milliseconds } from "@geoswap/protocol";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { assetsPricedOn, evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";
import { keepBook } from "./keep-book.ts";
import { createPriceBook, type PriceBook } from "./price-book.ts";

/** Returns the book of all configured chains, kept fresh until the signal aborts. `kept` settles when reading ends. */
export function keepPrices({
	config,
	chains,
	nowMs,
	signal,
	log,
}: {
	config: Pick<Config, "chains" | "price">;
	chains: readonly EvmChain[];
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): { book: PriceBook; kept: Promise<unknown> } {
	const { price } = config;
	const book = createPriceBook({
		chains: chains.map((chain) => chain.deployment),
		solana: solanaChain(config),
		feedMarginBps: price.feedMarginBps,
		feedDeviationBps: price.feedDeviationBps,
	});
	const loops = evmChains(config).map(({ chainId, pollMs }) => {
		const chain = chains.find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} is not connected`);
		return keepBook({
			chain,
			book,
			topUsd: price.ladderTopUsd,
			feedsForOthers: assetsPricedOn(chainId, config).map(({ feed }) => feed.address),
			pollMs,
			nowMs,
			signal,
			log,
		});
	});
	return { book, kept: Promise.all(loops) };
}
