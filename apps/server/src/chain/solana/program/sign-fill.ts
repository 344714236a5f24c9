import {
	type Amount,
	createTokenAccount,
	expectDestination,
	expectOrigin,
	fillOrder,
	fromSolanaWord,
	isWithinSolana,
	type Order,
	payOrder,
	type SolanaDeployment,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

const unitLimit = { fill: 60_000, account: 60_000 };

type Filling = Pick<SigningParts, "feePayer"> & {
	deployment: SolanaDeployment;
	operator: TransactionPartialSigner;
	order: Order;
	/** Amount of the output token that is paid to the recipient. */
	amount: Amount;
	/** True if the fee payer creates the recipient's token account. Otherwise it must exist. */
	createsAccount: boolean;
};

/**
 * Pays an order's output from the vault, which the program allows once. If the input is on Solana too, the fill
 * releases it, and the same transaction takes it to the vault.
 */
export async function signFill({
	deployment,
	operator,
	order,
	amount,
	createsAccount,
	...parts
}: SigningParts & Filling): Promise<SignedTransaction> {
	const { feePayer } = parts;
	return signInstructions({
		...parts,
		unitLimit: unitLimit.fill + (createsAccount ? unitLimit.account : 0),
		instructions: await fillInstructions({ deployment, feePayer, operator, order, amount, createsAccount }),
	});
}

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
