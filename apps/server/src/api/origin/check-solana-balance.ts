import {
	type Amount,
	emptyAccountRentLamports,
	fromSolanaWord,
	type Order,
	SwapError,
	solanaNativeToken,
} from "@geoswap/protocol";
import { checkBalance } from "./check-balance.ts";

/** Throws if the wallet cannot pay the order's input. */
export function checkSolanaBalance(order: Order, available: Amount): void {
	checkBalance(order, available);
	const { inputToken, inputAmount } = order;
	const left = available - inputAmount;
	if (fromSolanaWord(inputToken) !== solanaNativeToken || left === 0n) return;
	if (left < emptyAccountRentLamports) {
		throw new SwapError(
			"INSUFFICIENT_BALANCE",
			{ balance: String(available), required: String(inputAmount + emptyAccountRentLamports) },
			{
				message: `The swap must leave nothing in the wallet, or at least ${emptyAccountRentLamports} lamports: Solana keeps no account with less. Fund it, or request a quote for another amount.`,
			},
		);
	}
}
