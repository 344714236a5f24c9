import {
	type AttesterSet,
	createTokenAccount,
	decideOrders,
	expectOrigin,
	expireOrder,
	fromSolanaWord,
	isWithinSolana,
	type Order,
	orderId,
	payOrder,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import type { Hex } from "viem";
import { type SignedTransaction, type SigningParts, signInstructions } from "../send/sign-instructions.ts";

/** Recovering an attester from its signature takes 25,500 units. */
const unitLimit = { payment: 40_000, account: 60_000, decision: 25_000, signature: 28_000 };

/** How an order is decided before its input is paid. */
export type Decision =
	/** It was decided before, for example by a third party that had the attesters' signatures. */
	| { by: "earlier" }
	/** The signatures are over this order alone, in the ascending order of the signers' addresses. */
	| { by: "attesters"; set: AttesterSet; signatures: readonly Hex[] }
	/** The vault's operator refunds an order within Solana. */
	| { by: "operator" }
	/** The order's deadline has passed, so anyone may refund it. */
	| { by: "time" };

type Ending = Pick<SigningParts, "feePayer"> & {
	deployment: SolanaDeployment;
	operator: TransactionPartialSigner;
	order: Order;
	to: "vault" | "wallet";
	decision: Decision;
	/** Whether the fee payer creates the wallet's token account, which the wallet may have closed. */
	createsAccount?: boolean;
	/** Another token account of a wallet that gave its associated one away. */
	instead?: SolanaAddress | undefined;
};

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

/** Returns the instructions that decide and pay an order. Throws if it is not this deployment's. */
export async function endingInstructions({
	deployment,
	feePayer,
	operator,
	order,
	to,
	decision,
	createsAccount = false,
	instead,
}: Ending): Promise<Instruction[]> {
	expectOrigin(deployment, order);
	const { address: program, vault } = deployment.program;
	const [owner, token] = [fromSolanaWord(order.wallet), fromSolanaWord(order.inputToken)];
	return [
		...(await decide()),
		...(createsAccount && token !== solanaNativeToken
			? [await createTokenAccount({ payer: feePayer, owner, token })]
			: []),
		await payOrder(program, order, { to, instead }),
	];

	async function decide(): Promise<Instruction[]> {
		const id = orderId(order);
		if (decision.by === "earlier") return [];
		if (decision.by === "attesters") {
			if (isWithinSolana(order)) throw new RangeError("no attester decides an order within Solana");
			const { set, signatures } = decision;
			const kind = to === "vault" ? "Release" : "Refund";
			return [await decideOrders(program, kind, { orderIds: [id], set, signatures })];
		}
		if (to === "vault") throw new RangeError("attesters or a fill release an order");
		if (decision.by === "time") return [await expireOrder(program, id)];
		if (!isWithinSolana(order)) throw new RangeError("the operator decides orders within Solana only");
		return [await expireOrder(program, id, { vault, operator })];
	}
}

/** A signer that can pass on which order it signs for. A remote signer checks the order before it pays. */
type OrderAware<Signer> = Signer & { forOrder?: (order: Order) => Signer };

/** Returns the signer for one order, or the signer itself if it does not need to know the order. */
function forOrder<Signer extends object>(signer: OrderAware<Signer>, order: Order): Signer {
	return signer.forOrder?.(order) ?? signer;
}
