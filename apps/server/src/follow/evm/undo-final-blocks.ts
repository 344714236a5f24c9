import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { readOpeningNumber, reversePostings } from "../../money/ledger/post.ts";
import { type BlockHeader, insertBlock, lockHead } from "../../swap/due/chain-head.ts";
import { undoBlocks } from "./undo-blocks.ts";

/**
 * Makes a block below the final one the head again, and takes back what followed from all blocks above it: events,
 * postings, and transactions that no lane would send again. Ended swaps that lost an event are processed again. Only an
 * operator may request this, because payments on other chains that relied on those blocks stay paid.
 */
export async function undoFinalBlocks(
	db: Database,
	{ chainId, block }: { chainId: number; block: BlockHeader },
): Promise<{ orderIds: Hex[]; reversed: number; restarted: number }> {
	const head = await lockHead(db, chainId);
	if (!head || block.number >= head.finalizedNumber)
		throw new Error(`block ${block.number} is not below the final block`);
	if (block.number < (await readOpeningNumber(db, chainId))) {
		throw new Error(
			`the books of chain ${chainId} begin after block ${block.number}: they cannot go back to it`,
		);
	}
	// Swaps are locked before their jobs and waits, as everywhere.
	await db.query(
		`select from swaps where order_id in (select order_id from chain_events where chain_id = $1 and block_number > $2)
		order by id for update`,
		[chainId, block.number],
	);
	const reversed = await reversePostings(db, { chainId, above: block.number });
	await db.query("delete from chain_blocks where chain_id = $1", [chainId]);
	await insertBlock(db, { chainId, block });
	await db.query(
		`update chain_heads set finalized_number = $2, finalized_timestamp = $3, booked_number = $2,
			compared_number = least(compared_number, $2), compared_timestamp = least(compared_timestamp, $3)
		where chain_id = $1`,
		[chainId, block.number, block.timestamp],
	);
	// Nonces are mined in order, so all from the first dropped one on are free again.
	await db.query(
		`update lane_transactions t set state = 'broadcast', block_number = null, gas_cost = null
		from (
			select relayer, min(nonce) as nonce from lane_transactions where chain_id = $1 and block_number > $2 group by relayer
		) dropped
		where t.chain_id = $1 and t.relayer = dropped.relayer and t.nonce >= dropped.nonce and t.state in ('mined', 'final')`,
		[chainId, block.number],
	);
	const orderIds = await undoBlocks(db, { chainId, number: block.number });
	await db.query("update exposures set is_final = false where origin_chain_id = $1 and order_id = any($2)", [
		chainId,
		orderIds.map((id) => hexToBytes(id)),
	]);
	const { rowCount } = await db.query(
		`with again as (
			update swaps set ended_at = null where order_id = any($1) and ended_at is not null returning id, order_id
		)
		insert into waits (swap_id, order_id) select id, order_id from again
		on conflict (swap_id) do update set mark = waits.mark + 1, due_at = least(waits.due_at, now())`,
		[orderIds.map((id) => hexToBytes(id))],
	);
	return { orderIds, reversed, restarted: rowCount ?? 0 };
}
