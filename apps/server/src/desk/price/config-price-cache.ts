import type { Milliseconds } from "@geoswap/protocol";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { createPriceCache, type PriceCache } from "./price-cache.ts";
import type { PriceNews } from "./price-news.ts";
import { createPythPrices, type PythPrices } from "./pyth-prices.ts";
import { createQuoterLadders } from "./quoter-ladders.ts";

export type ConfigBook = {
	priceCache: PriceCache;
	/** Puts new prices into the price cache. */
	learn: (news: PriceNews) => void;
	/** Absent if Pyth is not configured. */
	pythPrices: PythPrices | undefined;
};

/** Creates the price cache of all configured chains and sources, without prices yet. */
export function configPriceCache(
	config: Pick<Config, "chains" | "price">,
	{ nowMs }: { nowMs: () => Milliseconds },
): ConfigBook {
	const { pyth, feedMarginBps, feedDeviationBps, sequencerGraceSeconds } = config.price;
	const solana = solanaChain(config);
	const pythPrices = pyth && createPythPrices(pyth, { nowMs });
	const quoterLadders = solana?.quoter && createQuoterLadders(solana.quoter, { nowMs });
	const priceCache = createPriceCache({
		chains: evmChains(config).map(({ deployment }) => deployment),
		solana,
		feedMarginBps,
		feedDeviationBps,
		sequencerGraceSeconds,
		pythPrices,
		quoterLadders,
	});
	return {
		priceCache,
		learn: (news) => {
			switch (news.kind) {
				case "prices":
					return priceCache.update(news.prices, { nowMs: nowMs() });
				case "pyth":
					return pythPrices?.update(news.answers);
				case "quoter":
					return quoterLadders?.update(news.asset, news.direction, news);
			}
		},
		pythPrices,
	};
}
