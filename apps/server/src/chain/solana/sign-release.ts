import { type Order, orderId, type SolanaDeployment } from "@geoswap/protocol";
import { markerInstructions } from "./marker-instructions.ts";
import { expectOrigin } from "./order-sides.ts";
import { type SignedTransaction, type SigningParts, signInstructions } from "./sign-instructions.ts";
import type { SolanaKeys } from "./solana-keys.ts";
import { transferInstructions } from "./transfer-instructions.ts";

const unitLimit = 40_000;

/** Takes an order's whole input from the escrow to the vault, once, and never after a refund. */
export async function signRelease({
	deployment,
	keys,
	order,
	...parts
}: SigningParts & {
	deployment: SolanaDeployment;
	keys: SolanaKeys;
	order: Order;
}): Promise<SignedTransaction> {
	expectOrigin(deployment, order);
	const transfer = await transferInstructions({
		deployment,
		from: keys.escrow,
		to: keys.vault.address,
		token: order.inputToken,
		amount: order.inputAmount,
	});
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: keys.escrow,
		orderId: orderId(order),
		owner: keys.vault.address,
	});
	return signInstructions({ ...parts, unitLimit, instructions: [...transfer, ...marker] });
}
