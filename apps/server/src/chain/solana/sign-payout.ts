import { fromSolanaWord, type Order, orderId, type SolanaDeployment } from "@geoswap/protocol";
import { markerInstructions } from "./marker-instructions.ts";
import { expectDestination, expectOrigin } from "./order-sides.ts";
import { type SignedTransaction, type SigningParts, signInstructions } from "./sign-instructions.ts";
import type { SolanaKeys } from "./solana-keys.ts";
import { transferInstructions } from "./transfer-instructions.ts";

const unitLimit = { transfers: 40_000, account: 60_000 };

/**
 * Pays an order's output from the vault, and marks the order as paid: a second payout, or one after the order was
 * voided, fails. Where the input is on Solana too, the same transaction takes it from the escrow to the vault.
 */
export async function signPayout({
	deployment,
	keys,
	order,
	amount,
	createsAccount,
	...parts
}: SigningParts & {
	deployment: SolanaDeployment;
	keys: SolanaKeys;
	order: Order;
	/** Of the output token, to the recipient. */
	amount: bigint;
	/** Whether the fee payer makes the recipient's token account. Without, it must exist. */
	createsAccount: boolean;
}): Promise<SignedTransaction> {
	expectDestination(deployment, order);
	if (amount < order.minOutput) throw new RangeError(`${amount} is less than the order's ${order.minOutput}`);
	const payout = await transferInstructions({
		deployment,
		from: keys.vault,
		to: fromSolanaWord(order.recipient),
		token: order.outputToken,
		amount,
		accountPaidBy: createsAccount ? parts.feePayer : undefined,
	});
	const isSameChain = order.originChainId === order.destinationChainId;
	if (isSameChain) expectOrigin(deployment, order);
	const release = isSameChain
		? await transferInstructions({
				deployment,
				from: keys.escrow,
				to: keys.vault.address,
				token: order.inputToken,
				amount: order.inputAmount,
			})
		: [];
	const marker = await markerInstructions({
		feePayer: parts.feePayer,
		base: keys.vault,
		orderId: orderId(order),
		owner: keys.vault.address,
	});
	return signInstructions({
		...parts,
		unitLimit: unitLimit.transfers + (createsAccount ? unitLimit.account : 0),
		instructions: [...payout, ...release, ...marker],
	});
}
