import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { CrossCheck } from "../../swap/facts/facts.ts";

/** Stores that a second provider has the deposit too, in this block. Asked again, the provider is further. */
export async function saveCrossCheck(
	db: Database,
	{
		chainId,
		orderId,
		blockNumber,
		blockHash,
		transactionHash,
		headNumber,
		finalizedNumber,
	}: CrossCheck & {
		chainId: number;
		orderId: Hex;
		blockNumber: number;
		blockHash: Hex;
		transactionHash: Hex;
	},
): Promise<void> {
	await db.query(
		`insert into cross_checks as known
			(chain_id, order_id, block_number, block_hash, transaction_hash, head_number, finalized_number)
		values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (order_id, chain_id, block_number, block_hash, transaction_hash) do update set
			head_number = greatest(known.head_number, excluded.head_number),
			finalized_number = greatest(known.finalized_number, excluded.finalized_number)`,
		[
			chainId,
			hexToBytes(orderId),
			blockNumber,
			hexToBytes(blockHash),
			hexToBytes(transactionHash),
			headNumber,
			finalizedNumber,
		],
	);
}
