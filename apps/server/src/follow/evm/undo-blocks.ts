import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { undoJobs } from "../../job/queue-jobs.ts";
import { lockHead } from "../../swap/due/chain-head.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { deleteUnreadBlocksAbove } from "../../swap/due/unread-blocks.ts";

/**
 * Makes this block the head again, because the chain dropped all blocks after it. Returns the orders that lost an
 * event.
 */
export async function undoBlocks(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<Hex[]> {
	const head = await lockHead(db, chainId);
	if (!head || number < head.finalizedNumber) throw new Error(`block ${number} is below the final block`);
	await db.query("delete from chain_blocks where chain_id = $1 and number > $2", [chainId, number]);
	await deleteUnreadBlocksAbove(db, { chainId, number });
	await db.query(
		`update chain_heads h set number = b.number, hash = b.hash, timestamp = b.timestamp, updated_at = now()
		from chain_blocks b where h.chain_id = $1 and b.chain_id = $1 and b.number = $2`,
		[chainId, number],
	);
	await db.query(
		`update lane_transactions set state = 'broadcast', block_number = null, gas_cost = null
		where chain_id = $1 and state = 'mined' and block_number > $2`,
		[chainId, number],
	);
	const { rows } = await db.query<Row<"chain_events", "order_id" | "name">>(
		"delete from chain_events where chain_id = $1 and block_number > $2 returning order_id, name",
		[chainId, number],
	);
	const orderIds = await undoJobs(db, { chainId, lost: rows });
	await markOrders(db, orderIds);
	return orderIds;
}
