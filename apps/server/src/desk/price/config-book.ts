import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { createPriceBook, type PriceBook } from "./price-book.ts";
import type { PythPrices } from "./pyth-prices.ts";
import type { QuoterLadders } from "./quoter-ladders.ts";

/** Creates the book of all configured chains, without prices yet. Without the other sources, feeds alone are believed. */
export function configBook(
	config: Pick<Config, "chains" | "price">,
	{
		pythPrices,
		quoterLadders,
	}: { pythPrices?: PythPrices | undefined; quoterLadders?: QuoterLadders | undefined } = {},
): PriceBook {
	const { feedMarginBps, feedDeviationBps, sequencerGraceSeconds } = config.price;
	return createPriceBook({
		chains: evmChains(config).map(({ deployment }) => deployment),
		solana: solanaChain(config),
		feedMarginBps,
		feedDeviationBps,
		sequencerGraceSeconds,
		pythPrices,
		quoterLadders,
	});
}
