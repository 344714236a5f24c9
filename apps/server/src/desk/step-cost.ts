import { tokenAccountRentLamports, type Wei } from "@geoswap/protocol";
import { isLamports, type Side } from "./desk-chain.ts";
import { accountLamports, evmFill, evmTransactions, lamportsOn, solanaTransactions } from "./network-cost.ts";
import type { PriceCache } from "./price/price-cache.ts";

/** A transaction of a swap. A void closes an order on its destination, so that its origin may refund it. */
export type SwapStep = "open" | "fill" | "release" | "refund" | "void";

/**
 * Returns what one transaction of a swap costs at current fees, in the chain's own unit of fees, alone and not in a
 * bundle. A quote charges an additional margin. On Solana the cost includes that of the account that an order leaves
 * behind, and a token account for the receiver.
 */
export function stepCost(
	priceCache: PriceCache,
	side: Side,
	{ step, isSameChain }: { step: SwapStep; isSameChain: boolean },
): Wei {
	const { chain } = side;
	if (chain.kind === "evm") {
		const transaction = step === "fill" ? evmFill(side, { isSameChain }) : evmTransactions[step];
		return priceCache.transactionCost(chain.chainId, transaction);
	}
	const lamports = lamportsOn(priceCache, chain);
	const fee = lamports(solanaTransactions[step]);
	if (step === "open" || step === "void") return fee;
	const rent = step === "release" || isLamports(side) ? 0n : tokenAccountRentLamports;
	return fee + accountLamports + rent;
}
