import {
	emptyAccountRentLamports,
	fromSolanaWord,
	type Order,
	SwapError,
	solanaNativeToken,
} from "@geoswap/protocol";

/** Throws where the wallet cannot give the order's input. */
export function checkSolanaBalance({ inputToken, inputAmount }: Order, available: bigint): void {
	const left = available - inputAmount;
	if (left < 0n) {
		throw new SwapError("INSUFFICIENT_BALANCE", {
			balance: String(available),
			required: String(inputAmount),
		});
	}
	if (fromSolanaWord(inputToken) !== solanaNativeToken || left === 0n) return;
	if (left < emptyAccountRentLamports) {
		throw new SwapError(
			"INSUFFICIENT_BALANCE",
			{ balance: String(available), required: String(inputAmount + emptyAccountRentLamports) },
			{
				message: `What is left in the wallet must be nothing, or at least ${emptyAccountRentLamports} lamports: Solana keeps no account with less. Fund it, or request a quote for another amount.`,
			},
		);
	}
}
