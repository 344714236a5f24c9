import {
	closeOrder,
	closeRecord,
	type Ending,
	endingInstructions,
	type Order,
	payInput,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	type Voiding,
	voidInstructions,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

/** Recovering an attester from its signature takes 25,500 units. */
const unitLimit = { payment: 40_000, account: 60_000, decision: 25_000, signature: 28_000 };

/** Decides an order and pays its whole input to its vault or back to its wallet. */
export async function signEnding({
	feePayer: anyFeePayer,
	blockhash,
	computePrice,
	operator: anyOperator,
	...ending
}: SigningParts & Ending): Promise<SignedTransaction> {
	const { order, decision, createsAccount = false } = ending;
	// The message has the address of the order's account only, and a remote signer needs the order.
	const [feePayer, operator] = [forOrder(anyFeePayer, order), forOrder(anyOperator, order)];
	const signatures = decision.by === "attesters" ? decision.signatures.length : 0;
	return signInstructions({
		feePayer,
		blockhash,
		computePrice,
		unitLimit:
			unitLimit.payment +
			(decision.by === "earlier" ? 0 : unitLimit.decision) +
			unitLimit.signature * signatures +
			(createsAccount ? unitLimit.account : 0),
		instructions: await endingInstructions({ ...ending, feePayer, operator }),
	});
}

/** A signer that can pass on which order it signs for. A remote signer checks the order before it pays. */
type OrderAware<Signer> = Signer & { forOrder?: (order: Order) => Signer };

/** Returns the signer for one order, or the signer itself if it does not need to know the order. */
function forOrder<Signer extends object>(signer: OrderAware<Signer>, order: Order): Signer {
	return signer.forOrder?.(order) ?? signer;
}

/** The number of instructions that surely fit into one transaction. */
export const instructionsPerSweep = 16;

const unitLimitPerInstruction = 5_000;

/** An account whose rent can be fetched: that of a record, or of a paid order. */
export type SweptAccount = {
	orderId: Hex;
	/** The account that paid the rent of an order. Absent for a record. */
	payer?: SolanaAddress;
	/**
	 * The owner of an order's input, if the account got SOL after the payment. The program then pays the owner again
	 * before it closes the account.
	 */
	owner?: SolanaAddress | undefined;
};

/** Closes accounts of the program. The rent of an order goes to its payer, that of a record to the vault. */
export async function signSweep({
	deployment,
	accounts,
	...parts
}: SigningParts & {
	deployment: SolanaDeployment;
	accounts: readonly SweptAccount[];
}): Promise<SignedTransaction> {
	const { address: program, vault } = deployment.program;
	const instructions = await Promise.all(
		accounts.flatMap(({ orderId, payer, owner }) => [
			...(owner ? [payInput(program, { orderId, token: solanaNativeToken, owner })] : []),
			payer ? closeOrder(program, orderId, payer) : closeRecord(program, orderId, vault),
		]),
	);
	if (instructions.length === 0 || instructions.length > instructionsPerSweep) {
		throw new RangeError(`${accounts.length} accounts cannot be closed in one transaction`);
	}
	return signInstructions({
		...parts,
		unitLimit: unitLimitPerInstruction * instructions.length,
		instructions,
	});
}

const voidUnitLimit = 40_000;

/** Closes an order from another chain permanently, so that no fill can land any more. Fails if one did. */
export async function signVoid({
	deployment,
	operator,
	order,
	...parts
}: SigningParts & Voiding): Promise<SignedTransaction> {
	const instructions = await voidInstructions({ deployment, operator, order });
	return signInstructions({ ...parts, unitLimit: voidUnitLimit, instructions });
}
