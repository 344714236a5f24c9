import { orderId } from "@geoswap/protocol";
import { markerInstructions } from "../marker/marker-instructions.ts";
import { expectTwoChains, expectVault } from "./order-sides.ts";
import { type OrderParts, type SignedTransaction, signInstructions } from "./sign-instructions.ts";

const unitLimit = 25_000;

/**
 * Closes an order at its destination for good: no payout can land any more. Fails if one did. Not for orders within
 * Solana, which a refund closes.
 */
export async function signVoid({
	deployment,
	keys,
	order,
	...parts
}: OrderParts): Promise<SignedTransaction> {
	expectVault(deployment, order);
	expectTwoChains(order);
	const instructions = await markerInstructions({
		feePayer: parts.feePayer,
		base: keys.vault,
		orderId: orderId(order),
		owner: keys.escrow.address,
	});
	return signInstructions({ ...parts, unitLimit, instructions });
}
