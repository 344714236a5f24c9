import { type Seconds, type UsdCents, usdCents } from "@geoswap/protocol";
import type { DeskChain } from "./desk-chain.ts";
import type { PriceCache } from "./price/price-cache.ts";

/** Returns the seconds until a transaction sent now has the depth that its value requires. */
export function secondsToDepth(
	priceCache: Pick<PriceCache, "blockSeconds">,
	{ chain, valueUsdCents }: { chain: DeskChain; valueUsdCents: UsdCents },
): Seconds {
	const blockSeconds = priceCache.blockSeconds(chain.chainId);
	const depth = chain.depths
		.filter(({ upToUsd }) => valueUsdCents <= usdCents(upToUsd))
		.map(({ blocks }) => blocks);
	return blockSeconds + (depth.length > 0 ? Math.min(...depth) * blockSeconds : chain.finalitySeconds);
}
