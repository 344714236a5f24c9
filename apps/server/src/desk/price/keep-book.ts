import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { type BlockPrices, readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PriceBook } from "./price-book.ts";

/** Puts each new block's prices of a chain into the book until the signal aborts. Skips a block that cannot be read. */
export async function keepBook({
	chain,
	book,
	topUsd,
	feedsForOthers = [],
	pollMs,
	nowMs,
	signal,
	log,
}: {
	chain: EvmChain;
	book: PriceBook;
	/** The size of the top rung. */
	topUsd: number;
	feedsForOthers?: readonly Address[];
	pollMs: Milliseconds;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	let previous: BlockPrices | undefined;
	while (!signal.aborted) {
		try {
			const block = await chain.client.getBlock();
			if (block.hash !== previous?.blockHash) {
				previous = await readBlockPrices(chain, { block, topUsd, previous, feedsForOthers });
				book.update(previous, { nowMs: nowMs() });
			}
		} catch (error) {
			if (!signal.aborted) log.warn({ chainId: chain.chainId, err: error }, "prices could not be read");
		}
		await sleep(pollMs, undefined, { signal }).catch(() => {});
	}
}
