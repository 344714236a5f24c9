import { addressOfWord, firstSwapUuidAt, fromSwapKey, type Order } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "./database.ts";

/** No order can be opened this long after its quote: partitions before need no look. */
const oldestMs = 86_400_000;

/**
 * The wallet's other swaps that have yet to take the same token on the same chain. Some may be open on chain already,
 * where the follower has not said so.
 */
export async function walletUnopened(
	db: Database,
	{ order, nowMs }: { order: Order; nowMs: number },
): Promise<{ orderId: Hex; escrow: Hex; amount: bigint }[]> {
	const { rows } = await db.query<{ order_id: Buffer; escrow: Hex; amount: string }>({
		name: "wallet-unopened",
		text: `select order_id, order_terms->>'escrow' as escrow, order_terms->>'inputAmount' as amount
			from swaps
			where order_terms->>'wallet' = $1 and status = 'pending' and stage = 'opening' and id >= $2 and id <> $3
				and order_terms->>'inputToken' = $4 and order_terms->>'originChainId' = $5`,
		values: [
			order.wallet,
			firstSwapUuidAt(nowMs - oldestMs),
			fromSwapKey(order.swapKey),
			order.inputToken,
			String(order.originChainId),
		],
	});
	return rows.map((row) => ({
		orderId: bytesToHex(row.order_id),
		escrow: addressOfWord(order.originChainId, row.escrow),
		amount: BigInt(row.amount),
	}));
}
