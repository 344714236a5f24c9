import { fromSolanaWord, orderId } from "@geoswap/protocol";
import { markerInstructions } from "./marker-instructions.ts";
import { expectEscrow } from "./order-sides.ts";
import { type OrderParts, type SignedTransaction, signInstructions } from "./sign-instructions.ts";
import { transferInstructions } from "./transfer-instructions.ts";

const unitLimit = { transfer: 40_000, account: 60_000 };

/** Gives an order's whole input back to its wallet, once, and never after a release. */
export async function signRefund({
	deployment,
	keys,
	order,
	createsAccount,
	...parts
}: OrderParts & {
	/** Whether the fee payer makes the wallet's token account, which it may have closed. */
	createsAccount: boolean;
}): Promise<SignedTransaction> {
	expectEscrow(deployment, order);
	const transfer = await transferInstructions({
		deployment,
		from: keys.escrow,
		to: fromSolanaWord(order.wallet),
		token: order.inputToken,
		amount: order.inputAmount,
		accountPaidBy: createsAccount ? parts.feePayer : undefined,
	});
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: keys.escrow,
		orderId: orderId(order),
		owner: keys.escrow.address,
	});
	return signInstructions({
		...parts,
		unitLimit: unitLimit.transfer + (createsAccount ? unitLimit.account : 0),
		instructions: [...transfer, ...marker],
	});
}
