import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import type { Order } from "../../order.ts";
import type { Amount } from "../../units.ts";
import { createTokenAccount } from "../create-token-account.ts";
import { fromSolanaWord, solanaNativeToken } from "../solana-address.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";
import { payOrder } from "./escrow-instructions.ts";
import { expectDestination, expectOrigin, isWithinSolana } from "./expect-origin.ts";
import { fillOrder } from "./vault-instructions.ts";

export type Filling = {
	deployment: SolanaDeployment;
	feePayer: TransactionPartialSigner;
	operator: TransactionPartialSigner;
	order: Order;
	/** Amount of the output token that is paid to the recipient. */
	amount: Amount;
	/** True if the fee payer creates the recipient's token account. Otherwise it must exist. */
	createsAccount: boolean;
};

/** Returns the instructions that pay an order. Throws if it is not this deployment's. */
export async function fillInstructions({
	deployment,
	feePayer,
	operator,
	order,
	amount,
	createsAccount,
}: Filling): Promise<Instruction[]> {
	expectDestination(deployment, order);
	if (amount < order.minOutput) throw new RangeError(`${amount} is less than the order's ${order.minOutput}`);
	const { address: program } = deployment.program;
	const release: Instruction[] = [];
	if (isWithinSolana(order)) {
		expectOrigin(deployment, order);
		release.push(await payOrder(program, order, { to: "vault" }));
	}
	const [owner, token] = [fromSolanaWord(order.recipient), fromSolanaWord(order.outputToken)];
	// Lamports need no account.
	const account =
		createsAccount && token !== solanaNativeToken
			? [await createTokenAccount({ payer: feePayer, owner, token })]
			: [];
	return [...account, await fillOrder(program, order, { operator, amount }), ...release];
}
