import { orderId } from "@geoswap/protocol";
import { markerInstructions } from "../marker/marker-instructions.ts";
import { expectTwoChains } from "./order-sides.ts";
import { releaseInstructions } from "./release-instructions.ts";
import { type OrderParts, type SignedTransaction, signInstructions } from "./sign-instructions.ts";

const unitLimit = 40_000;

/** Takes an order's whole input from the escrow to the vault, once, and never after a refund. */
export async function signRelease({
	deployment,
	keys,
	order,
	...parts
}: OrderParts): Promise<SignedTransaction> {
	expectTwoChains(order);
	const release = await releaseInstructions({ deployment, keys, order });
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: keys.escrow,
		orderId: orderId(order),
		owner: keys.vault.address,
	});
	return signInstructions({ ...parts, unitLimit, instructions: [...release, ...marker] });
}
