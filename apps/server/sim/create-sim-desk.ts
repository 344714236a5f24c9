import type { Order } from "@geoswap/protocol";
import { evmChains, solanaChain } from "../src/config/chain-config.ts";
import { createDesk } from "../src/desk/create-desk.ts";
import type { Desk } from "../src/desk/desk.ts";
import { deskChains } from "../src/desk/desk-chain.ts";
import { createPriceCache } from "../src/desk/price/price-cache.ts";
import { type RefundWorth, refundWorth } from "../src/desk/refund-worth.ts";
import { simPrices } from "./sim-prices.ts";
import type { World } from "./world.ts";

/**
 * Creates the desk of a world. All processes share it and its price cache. `updatePrices` fills the cache from the
 * chains' heights and the usual prices, because EVM chains here have no pools and no feeds to read.
 */
export function createSimDesk({
	config,
	evm,
	solana,
	scheduler,
	random,
	offBps,
}: Pick<World, "config" | "evm" | "solana" | "scheduler" | "random"> & {
	/** Returns the current deviation of volatile assets from their usual prices. */
	offBps: () => number;
}): {
	desk: Desk;
	/** Returns the worth of an order's refund at the current prices. */
	worthOf: (order: Order) => RefundWorth | undefined;
	updatePrices: () => void;
} {
	const priceCache = createPriceCache({
		...config.price,
		solana: solanaChain(config),
		chains: evmChains(config).map(({ deployment }) => deployment),
	});
	const desk = createDesk({
		config,
		priceCache,
		nowMs: scheduler.nowMs,
		random: (size) => random.bytes(size),
	});
	const pricedChains = deskChains(config);
	const updatePrices = () => {
		for (const chain of Object.values(evm)) {
			priceCache.update(
				simPrices({
					deployment: chain.deployment,
					solana: solana.deployment,
					nowMs: scheduler.nowMs(),
					blockNumber: chain.heights().latest,
					offBps: offBps(),
				}),
				{ nowMs: scheduler.nowMs() },
			);
		}
	};
	return {
		desk,
		worthOf: (order) => refundWorth(order, { chains: pricedChains, priceCache, nowMs: scheduler.nowMs() }),
		updatePrices,
	};
}
