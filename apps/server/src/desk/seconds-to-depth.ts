import { type Seconds, type UsdCents, usdCents } from "@geoswap/protocol";
import type { DeskChain, Side } from "./desk-chain.ts";
import type { PriceBook } from "./price/price-book.ts";

/**
 * Returns the seconds until a deposit counts. If both sides are on Solana, nothing binds the payout to the deposit, so
 * it must be final.
 */
export function secondsToDeposit(
	book: Pick<PriceBook, "blockSeconds">,
	{
		origin: { chain },
		destination,
		valueUsdCents,
	}: { origin: Side; destination: Side; valueUsdCents: UsdCents },
): Seconds {
	const isOnSolanaAlone = chain.kind === "solana" && chain.chainId === destination.chain.chainId;
	if (!isOnSolanaAlone) return secondsToDepth(book, { chain, valueUsdCents });
	return book.blockSeconds(chain.chainId) + chain.finalitySeconds;
}

/** Returns the seconds until a transaction sent now has the depth that its value requires. */
export function secondsToDepth(
	book: Pick<PriceBook, "blockSeconds">,
	{ chain, valueUsdCents }: { chain: DeskChain; valueUsdCents: UsdCents },
): Seconds {
	const blockSeconds = book.blockSeconds(chain.chainId);
	const depth = chain.depths
		.filter(({ upToUsd }) => valueUsdCents <= usdCents(upToUsd))
		.map(({ blocks }) => blocks);
	return blockSeconds + (depth.length > 0 ? Math.min(...depth) * blockSeconds : chain.finalitySeconds);
}
