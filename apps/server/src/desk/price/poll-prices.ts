import type { Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { TipBounds } from "../../chain/evm/fee/read-tip.ts";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import { type BlockPrices, readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PriceCache } from "./price-cache.ts";
import type { PriceTurns } from "./price-turns.ts";

/** The maximum time for which a subscription without news is trusted. */
const quietMs = 10_000;

/**
 * Puts prices of a chain's newest blocks into the price cache until the signal aborts. Skips a block that cannot be
 * read.
 */
export async function pollPrices({
	chain,
	priceCache,
	topUsd,
	tips,
	feedsForOthers = [],
	references = () => new Map(),
	turns,
	nowMs,
	signal,
	log,
}: {
	chain: EvmChain;
	priceCache: Pick<PriceCache, "update">;
	/** The size of the top rung. */
	topUsd: number;
	tips: TipBounds;
	feedsForOthers?: readonly Address[];
	/** Returns the prices of assets that have no feed, by the asset's address. */
	references?: () => ReadonlyMap<Address, FeedAnswer>;
	/** Decides when to read. */
	turns: Pick<PriceTurns, "pause" | "noteRead">;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	let previous: BlockPrices | undefined;
	let askedAtMs = Number.NEGATIVE_INFINITY;
	while (!signal.aborted) {
		try {
			// A node that notifies of each block need not be polled for one. It is polled now and then, because the
			// subscription may have failed.
			const told = chain.news?.told();
			const isQuiet = told !== undefined && told <= (previous?.blockNumber ?? -1);
			const block = isQuiet && nowMs() - askedAtMs < quietMs ? undefined : await chain.client.getBlock();
			if (block) askedAtMs = nowMs();
			if (block && block.hash !== previous?.blockHash) {
				const known = { previous, references: references() };
				previous = await readBlockPrices(chain, { block, topUsd, tips, feedsForOthers, ...known });
				priceCache.update(previous, { nowMs: nowMs() });
			}
		} catch (error) {
			if (!signal.aborted) log.warn({ chainId: chain.chainId, err: error }, "prices could not be read");
		}
		turns.noteRead();
		await turns.pause();
	}
}
