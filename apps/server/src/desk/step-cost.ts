import { tokenAccountRentLamports, type Wei } from "@geoswap/protocol";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import { isLamports, type Side } from "./desk-chain.ts";
import { accountLamports, evmFill, evmTransactions, lamportsOn, solanaTransactions } from "./network-cost.ts";
import type { PriceBook } from "./price/price-book.ts";

/** A transaction of a swap. A void closes an order on its destination, so that its origin may refund it. */
export type SwapStep = "open" | "fill" | "release" | "refund" | "void";

export type StepCost = {
	/** In the chain's own unit of fees. */
	fee: Wei;
	/** Absent on Solana. */
	transaction?: TransactionShape;
};

/**
 * Returns what one transaction of a swap costs at the fees of now, alone and not in a bundle. A quote charges a margin
 * more. On Solana it includes the cost of the account that an order leaves behind, and a token account for the receiver.
 */
export function stepCost(
	book: PriceBook,
	side: Side,
	{ step, isSameChain }: { step: SwapStep; isSameChain: boolean },
): StepCost {
	const { chain } = side;
	if (chain.kind === "evm") {
		const transaction = step === "fill" ? evmFill(side, { isSameChain }) : evmTransactions[step];
		return { fee: book.transactionCost(chain.chainId, transaction), transaction };
	}
	const lamports = lamportsOn(book, chain);
	const fee = lamports(solanaTransactions[step]);
	if (step === "open" || step === "void") return { fee };
	const rent = step === "release" || isLamports(side) ? 0n : tokenAccountRentLamports;
	return { fee: fee + accountLamports + rent };
}
