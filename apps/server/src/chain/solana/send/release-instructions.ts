import type { Instruction } from "@solana/kit";
import { expectOrigin } from "./order-sides.ts";
import type { OrderParts } from "./sign-instructions.ts";
import { transferInstructions } from "./transfer-instructions.ts";

/** Takes an order's whole input from the escrow to the vault. */
export async function releaseInstructions({
	deployment,
	keys,
	order,
}: Pick<OrderParts, "deployment" | "keys" | "order">): Promise<Instruction[]> {
	expectOrigin(deployment, order);
	return transferInstructions({
		deployment,
		from: keys.escrow,
		to: keys.vault.address,
		token: order.inputToken,
		amount: order.inputAmount,
	});
}
