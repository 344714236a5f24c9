import { createNoopSigner } from "@solana/kit";
import type { Order } from "../../order.ts";
import {
	compileOrderMessage,
	type OrderMessageParts,
	type OrderTransaction,
} from "../compile-order-message.ts";
import { fromSolanaWord } from "../solana-address.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";
import { fundOrder, openOrder, prepareOrder } from "./escrow-instructions.ts";

/**
 * Returns the one transaction by which a Solana wallet opens an order: the fee payer creates the order's accounts, the
 * wallet transfers its input to them, and the program checks that it has arrived. Its bytes follow from the order and
 * these parts alone, so that both sides build them and neither has to trust the other.
 */
export async function openTransaction(
	{ assets }: Pick<SolanaDeployment, "assets">,
	order: Order,
	parts: OrderMessageParts,
): Promise<OrderTransaction> {
	const [program, mint] = [fromSolanaWord(order.escrow), fromSolanaWord(order.inputToken)];
	const asset = assets.find(({ address }) => address === mint);
	if (!asset) throw new RangeError(`${mint} is not an asset of this deployment`);
	const wallet = createNoopSigner(fromSolanaWord(order.wallet));
	return compileOrderMessage(parts, [
		await prepareOrder(program, order, createNoopSigner(parts.feePayer)),
		await fundOrder(program, order, { wallet, decimals: asset.decimals }),
		await openOrder(program, order),
	]);
}
