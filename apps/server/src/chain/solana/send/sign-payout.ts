import { type Amount, fromSolanaWord, orderId } from "@geoswap/protocol";
import { markerInstructions } from "../marker/marker-instructions.ts";
import { forOrder } from "./for-order.ts";
import { expectDestination, isWithinSolana } from "./order-sides.ts";
import { releaseInstructions } from "./release-instructions.ts";
import { type OrderParts, type SignedTransaction, signInstructions } from "./sign-instructions.ts";
import { transferInstructions } from "./transfer-instructions.ts";

const unitLimit = { transfers: 40_000, account: 60_000 };

/**
 * Pays an order's output from the vault, and marks the order as paid: a second payout, or one after the order was
 * voided, fails. If the input is on Solana too, the same transaction takes it from the escrow to the vault.
 */
export async function signPayout({
	deployment,
	keys: { vault: anyVault, ...keys },
	order,
	amount,
	createsAccount,
	...parts
}: OrderParts & {
	/** Amount of the output token that is paid to the recipient. */
	amount: Amount;
	/** True if the fee payer makes the recipient's token account. Otherwise it must exist. */
	createsAccount: boolean;
}): Promise<SignedTransaction> {
	expectDestination(deployment, order);
	const vault = forOrder(anyVault, order);
	if (amount < order.minOutput) throw new RangeError(`${amount} is less than the order's ${order.minOutput}`);
	const payout = await transferInstructions({
		deployment,
		from: vault,
		to: fromSolanaWord(order.recipient),
		token: order.outputToken,
		amount,
		accountPaidBy: createsAccount ? parts.feePayer : undefined,
	});
	const release = isWithinSolana(order)
		? await releaseInstructions({ deployment, keys: { ...keys, vault }, order })
		: [];
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: vault,
		orderId: orderId(order),
		owner: vault.address,
	});
	return signInstructions({
		...parts,
		unitLimit: unitLimit.transfers + (createsAccount ? unitLimit.account : 0),
		instructions: [...payout, ...release, ...marker],
	});
}
