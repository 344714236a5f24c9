import { addressOfWord, type Order, orderId as orderIdOf, toChainId } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { post } from "./post.ts";

/** Books as lost the delivery for a deposit that the chain dropped, and that can never be made again. */
export async function bookLoss(db: Database, order: Order): Promise<void> {
	const orderId = orderIdOf(order);
	const chainId = toChainId(order.destinationChainId);
	const { rows } = await db.query<{ block_number: number; delivered: string }>(
		`select block_number, data->>'delivered' as delivered from chain_events
		where order_id = $1 and chain_id = $2 and name = 'Filled'`,
		[hexToBytes(orderId), chainId],
	);
	const [filled] = rows;
	if (!filled) return;
	const token = addressOfWord(order.destinationChainId, order.outputToken);
	const amount = BigInt(filled.delivered);
	await post(db, [
		{
			key: `loss:${orderId}:${filled.block_number}`,
			chainId,
			blockNumber: filled.block_number,
			name: "loss",
			orderId,
			entries: [
				{ account: "loss", token, amount },
				{ account: "recipient", token, amount: -amount },
			],
		},
	]);
}
