import { fromSolanaWord, orderId } from "@geoswap/protocol";
import { markerInstructions } from "../marker/marker-instructions.ts";
import { forOrder } from "./for-order.ts";
import { expectEscrow, expectVault, isWithinSolana } from "./order-sides.ts";
import { type OrderParts, type SignedTransaction, signInstructions } from "./sign-instructions.ts";
import { transferInstructions } from "./transfer-instructions.ts";

const unitLimit = { transfer: 40_000, account: 60_000 };

/**
 * Gives an order's whole input back to its wallet, once, and never after a release. Within Solana it makes the marker that
 * a payout of the order would make, so that only one of the two can land. If an earlier version voided the order, that
 * marker stands, and the refund makes the escrow's instead.
 */
export async function signRefund({
	deployment,
	keys: { vault, escrow: anyEscrow },
	order,
	createsAccount,
	isVoided = false,
	...parts
}: OrderParts & {
	/** Whether the fee payer makes the wallet's token account, which it may have closed. */
	createsAccount: boolean;
	/** Whether an order within Solana has a final void of an earlier version, which paid nothing back. */
	isVoided?: boolean;
}): Promise<SignedTransaction> {
	expectEscrow(deployment, order);
	const escrow = forOrder(anyEscrow, order);
	const isWithin = isWithinSolana(order);
	if (isWithin) expectVault(deployment, order);
	const transfer = await transferInstructions({
		deployment,
		from: escrow,
		to: fromSolanaWord(order.wallet),
		token: order.inputToken,
		amount: order.inputAmount,
		accountPaidBy: createsAccount ? parts.feePayer : undefined,
	});
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: isWithin && !isVoided ? vault : escrow,
		orderId: orderId(order),
		owner: escrow.address,
	});
	return signInstructions({
		...parts,
		unitLimit: unitLimit.transfer + (createsAccount ? unitLimit.account : 0),
		instructions: [...transfer, ...marker],
	});
}
