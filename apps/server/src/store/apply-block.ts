import { type Address, type Hash, type Hex, hexToBytes } from "viem";
import { type BlockHeader, insertBlock, lockHead } from "./chain-head.ts";
import type { Database } from "./database.ts";
import { markDue } from "./due-signals.ts";
import { markDepositsFinal } from "./exposure.ts";
import { finishJobs } from "./finish-jobs.ts";
import { bookFinal } from "./ledger/book-final.ts";
import { noteUnknownOrders } from "./note-unknown-orders.ts";
import { settleNonces } from "./settle-nonces.ts";
import { type StockBalance, saveStock } from "./stock-balance.ts";
import { strikeJobs } from "./strike-jobs.ts";
import { takeUpUnknownOrders } from "./unknown-orders.ts";

type BlockEvent = {
	name: string;
	data: object;
	orderId: Hex | undefined;
	contract: Address;
	transactionHash: Hash;
	logIndex: number;
};

export type AppliedBlock = {
	chainId: number;
	block: BlockHeader & { parentHash: Hash };
	events: readonly BlockEvent[];
	/** Those of our lanes' transactions that are in the block. */
	mined: readonly { hash: Hash; gasCost: bigint }[];
	finalized: { number: number; timestamp: number };
	/** All our vaults on the chain. */
	vaults: readonly Address[];
	/** Read at this block; absent where it is not the newest. */
	stock?: readonly StockBalance[];
};

/**
 * Takes in the block after the head, all of it or nothing. Returns the orders that something happened to, and the
 * final events that the ledger could not book, because their order is not known.
 */
export async function applyBlock(
	db: Database,
	{ chainId, block, events, mined, finalized, vaults, stock }: AppliedBlock,
): Promise<{ orderIds: Hex[]; unbooked: string[] }> {
	const head = await lockHead(db, chainId);
	// Another follower was faster, or took this one's place.
	if (head?.hash !== block.parentHash) throw new Error(`block ${block.number} does not follow the head`);

	await insertBlock(db, { chainId, block });
	if (events.length > 0) await insertEvents(db, { chainId, block, events });
	const filled = events.flatMap(({ name, orderId }) => (name === "Filled" && orderId ? [orderId] : []));
	if (filled.length > 0) await takeUpUnknownOrders(db, filled);
	const finished = events.length > 0 ? await finishJobs(db, { chainId, events }) : [];
	if (mined.length > 0) await markMined(db, { chainId, blockNumber: block.number, mined });
	const struck = await strikeJobs(db, { chainId, headNumber: block.number });

	// A block that was not taken in yet may hold an event: what is final ends where this follower is.
	const isBehind = finalized.number > block.number;
	const finalizedNumber = Math.max(isBehind ? block.number : finalized.number, head.finalizedNumber);
	await db.query(
		`update chain_heads set number = $2, hash = $3, timestamp = $4, base_fee = $5,
			finalized_timestamp = case when $6 > finalized_number then $7 else finalized_timestamp end,
			finalized_number = $6, updated_at = now()
		where chain_id = $1`,
		[
			chainId,
			block.number,
			hexToBytes(block.hash),
			block.timestamp,
			block.baseFee,
			finalizedNumber,
			isBehind ? block.timestamp : finalized.timestamp,
		],
	);
	let unbooked: string[] = [];
	if (finalizedNumber > head.finalizedNumber) {
		await noteUnknownOrders(db, { chainId, after: head.finalizedNumber, upTo: finalizedNumber });
		await db.query("delete from chain_blocks where chain_id = $1 and number < $2", [
			chainId,
			finalizedNumber,
		]);
		const gas = await settleNonces(db, { chainId, finalizedNumber });
		({ unbooked } = await bookFinal(db, {
			chainId,
			after: head.bookedNumber,
			upTo: finalizedNumber,
			gas,
			vaults,
		}));
	}
	const orderIds = [...new Set([...events.flatMap((event) => event.orderId ?? []), ...finished, ...struck])];
	await markDue(db, { chainId, orderIds });
	// Last: every submit to a token of this chain waits for these rows.
	if (stock) await saveStock(db, { chainId, blockNumber: block.number, stock });
	await markDepositsFinal(db, { chainId, upTo: finalizedNumber });
	return { orderIds, unbooked };
}

async function insertEvents(
	db: Database,
	{ chainId, block, events }: Pick<AppliedBlock, "chainId" | "block" | "events">,
): Promise<void> {
	await db.query(
		`insert into chain_events (chain_id, block_number, block_hash, log_index, transaction_hash, contract, order_id,
			name, data)
		select $1, $2, $3, * from unnest($4::int[], $5::bytea[], $6::bytea[], $7::bytea[], $8::text[], $9::jsonb[])`,
		[
			chainId,
			block.number,
			hexToBytes(block.hash),
			events.map((event) => event.logIndex),
			events.map((event) => hexToBytes(event.transactionHash)),
			events.map((event) => hexToBytes(event.contract)),
			events.map((event) => (event.orderId ? hexToBytes(event.orderId) : null)),
			events.map((event) => event.name),
			events.map((event) => JSON.stringify(event.data)),
		],
	);
}

async function markMined(
	db: Database,
	{ chainId, blockNumber, mined }: { chainId: number; blockNumber: number } & Pick<AppliedBlock, "mined">,
): Promise<void> {
	await db.query(
		`update lane_transactions t set state = 'mined', block_number = $2, gas_cost = m.gas_cost
		from unnest($3::bytea[], $4::numeric[]) as m (hash, gas_cost) where t.chain_id = $1 and t.hash = m.hash`,
		[chainId, blockNumber, mined.map(({ hash }) => hexToBytes(hash)), mined.map(({ gasCost }) => gasCost)],
	);
}
