import { type Amount, type Order, SwapError } from "@geoswap/protocol";

/** Throws if the wallet cannot pay the order's input. */
export function checkBalance({ inputAmount }: Order, available: Amount): void {
	if (available >= inputAmount) return;
	throw new SwapError("INSUFFICIENT_BALANCE", {
		balance: String(available > 0n ? available : 0n),
		required: String(inputAmount),
	});
}
