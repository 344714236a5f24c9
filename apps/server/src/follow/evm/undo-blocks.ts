import { type Hex, hexToBytes } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { type Block, readBlock } from "../../chain/evm/read/read-block.ts";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { undoJobs } from "../../job/queue-jobs.ts";
import { readOpeningNumber, reversePostings } from "../../money/ledger/post.ts";
import { forgetArrivals } from "../../money/move/book-arrivals.ts";
import {
	type BlockHeader,
	type FollowedHead,
	insertBlock,
	lockHead,
	readBlockHashes,
	readEventBlocks,
} from "../../swap/due/chain-head.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { deleteUnreadBlocksAbove } from "../../swap/due/unread-blocks.ts";

/**
 * Makes this block the head again, because the chain dropped all blocks after it. Returns the orders that lost an
 * event.
 */
async function undoBlocks(
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
			`the books of chain ${chainId} begin after block ${block.number}, so they cannot go back to it`,
		);
	}
	// Swaps are locked before their jobs and waits, as everywhere.
	await db.query(
		`select from swaps where order_id in (select order_id from chain_events where chain_id = $1 and block_number > $2)
		order by id for update`,
		[chainId, block.number],
	);
	const reversed = await reversePostings(db, { chainId, above: block.number });
	await forgetArrivals(db, { chainId, above: block.number });
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

const blocksAtOnce = 20;

/**
 * Goes back below the final block, to the last block with events of the service that is still on the chain. Undoes the
 * effects of all blocks above it.
 */
export async function undoFinal({
	chain,
	pool,
	head,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	head: FollowedHead;
}): Promise<{ number: number } & Awaited<ReturnType<typeof undoFinalBlocks>>> {
	const { chainId } = chain;
	const block =
		(await lastKnown({ chain, pool, head })) ??
		// If no block with events of the service is left on the chain, the last block of the opening balances.
		(await readBlock(chain, await readOpeningNumber(pool, chainId)));
	const undone = await inTransaction(pool, (db) => undoFinalBlocks(db, { chainId, block }));
	return { number: block.number, ...undone };
}

/** Returns the last known block that is still on the chain. Only hashes of blocks with events are kept permanently. */
async function lastKnown({
	chain,
	pool,
	head,
}: Pick<Parameters<typeof undoFinal>[0], "chain" | "pool" | "head">): Promise<Block | undefined> {
	const { chainId } = chain;
	for (let upTo = head.finalizedNumber - 1; ; ) {
		const seen = await readEventBlocks(pool, { chainId, upTo, limit: blocksAtOnce });
		const blocks = await Promise.all(seen.map(({ number }) => readBlock(chain, number)));
		const known = blocks.find(({ hash }, i) => hash === seen[i]?.hash);
		if (known || seen.length < blocksAtOnce) return known;
		upTo = (seen.at(-1)?.number ?? 0) - 1;
	}
}

/**
 * The chain dropped a block that it had reported as final. Payments that relied on it stay paid, so an operator must
 * decide.
 */
export class FinalityBrokenError extends Error {
	override name = "FinalityBrokenError";

	constructor(chainId: number, number: number) {
		super(`chain ${chainId} dropped block ${number}, which was final`);
	}
}

/** Goes back to the last followed block that is still on the chain. Returns the orders that lost an event. */
export async function undoFork({
	chain,
	pool,
	head,
	latestNumber,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	head: FollowedHead;
	latestNumber: number;
}): Promise<{ number: number; orderIds: Hex[] }> {
	const { chainId } = chain;
	if (latestNumber < head.finalizedNumber)
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	const known = await readBlockHashes(pool, {
		chainId,
		from: head.finalizedNumber,
		upTo: Math.min(head.number, latestNumber),
	});
	// The hash of the newest final block is always kept, so another follower must be past this head.
	if (known.at(-1)?.number !== head.finalizedNumber) {
		throw new Error(`another follower moved the head of chain ${chainId}`);
	}
	for (const { number, hash: seen } of known) {
		const { hash } = await readBlock(chain, number);
		if (seen === hash) {
			return { number, orderIds: await inTransaction(pool, (db) => undoBlocks(db, { chainId, number })) };
		}
	}
	throw new FinalityBrokenError(chainId, head.finalizedNumber);
}
