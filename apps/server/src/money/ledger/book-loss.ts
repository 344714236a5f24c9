import { addressOfWord, nativeTokenOf, type Order, orderId as orderIdOf, toChainId } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Entry } from "./event-entries.ts";
import { post } from "./post.ts";

/** Books as lost the delivery for a deposit that the chain dropped, and that can never be made again. */
export async function bookLoss(db: Database, order: Order): Promise<void> {
	const orderId = orderIdOf(order);
	const chainId = toChainId(order.destinationChainId);
	const { rows } = await db.query<{ block_number: number; delivered: string; topped_up: string | null }>(
		`select f.block_number, f.data->>'delivered' as delivered, t.data->>'amount' as topped_up
		from chain_events f left join chain_events t on t.order_id = f.order_id and t.chain_id = f.chain_id
			and t.name = 'ToppedUp' and (t.data->>'paid')::boolean
		where f.order_id = $1 and f.chain_id = $2 and f.name = 'Filled'`,
		[hexToBytes(orderId), chainId],
	);
	const [filled] = rows;
	if (!filled) return;
	const token = addressOfWord(order.destinationChainId, order.outputToken);
	const lost = [
		{ token, amount: BigInt(filled.delivered) },
		...(filled.topped_up === null
			? []
			: [{ token: nativeTokenOf(chainId), amount: BigInt(filled.topped_up) }]),
	];
	await post(db, [
		{
			key: `loss:${orderId}:${filled.block_number}`,
			chainId,
			blockNumber: filled.block_number,
			name: "loss",
			orderId,
			entries: lost.flatMap((one): Entry[] => [
				{ account: "loss", ...one },
				{ account: "recipient", ...one, amount: -one.amount },
			]),
		},
	]);
}
