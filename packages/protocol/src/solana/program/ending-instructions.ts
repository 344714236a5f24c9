import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import type { Hex } from "viem";
import type { AttesterSet } from "../../attester-set.ts";
import { type Order, orderId } from "../../order.ts";
import { createTokenAccount } from "../create-token-account.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "../solana-address.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";
import { decideOrders, expireOrder, payOrder } from "./escrow-instructions.ts";
import { expectOrigin, isWithinSolana } from "./expect-origin.ts";

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

export type Ending = {
	feePayer: TransactionPartialSigner;
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
