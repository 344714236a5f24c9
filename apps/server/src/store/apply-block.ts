import { type Address, bytesToHex, type Hash, type Hex, hexToBytes } from "viem";
import { type BlockHeader, insertBlock, lockHead } from "./chain-head.ts";
import type { Database } from "./database.ts";
import { markDue } from "./due-signals.ts";
import { markDepositsFinal } from "./exposure.ts";
import type { JobKind } from "./job.ts";
import { bookFinal, type GasSpent } from "./ledger/book-final.ts";
import { type StockBalance, saveStock } from "./stock-balance.ts";
import { strikeJobs } from "./strike-jobs.ts";

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

/** The event that shows that a job is done. */
export const doneEvent: Record<JobKind, string> = {
	open: "Opened",
	fill: "Filled",
	void: "Voided",
	release: "Released",
	refund: "Refunded",
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
		await db.query("delete from chain_blocks where chain_id = $1 and number < $2", [
			chainId,
			finalizedNumber,
		]);
		const gas = await settleNonces(db, { chainId, finalizedNumber });
		unbooked = await bookFinal(db, { chainId, after: head.bookedNumber, upTo: finalizedNumber, gas, vaults });
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

/** Whoever sent it: what a job was for has happened. */
async function finishJobs(
	db: Database,
	{ chainId, events }: Pick<AppliedBlock, "chainId" | "events">,
): Promise<Hex[]> {
	const done = Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.flatMap((event) =>
			event.name === name && event.orderId ? [{ kind, orderId: event.orderId }] : [],
		),
	);
	if (done.length === 0) return [];
	await db.query(
		`update jobs set state = 'done', reason = null, updated_at = now()
		where chain_id = $1 and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))`,
		[chainId, done.map((job) => hexToBytes(job.orderId)), done.map((job) => job.kind)],
	);
	return done.map((job) => job.orderId);
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

/** The other attempts of a nonce whose transaction is final can never be mined. Returns what those that were mined cost. */
async function settleNonces(
	db: Database,
	{ chainId, finalizedNumber }: { chainId: number; finalizedNumber: number },
): Promise<GasSpent[]> {
	const { rows } = await db.query<{ hash: Buffer; block_number: number | null; gas_cost: bigint | null }>(
		`update lane_transactions t set state = 'final' from lane_transactions m
		where m.chain_id = $1 and m.state = 'mined' and m.block_number <= $2
			and t.chain_id = m.chain_id and t.relayer = m.relayer and t.nonce = m.nonce
		returning t.hash, t.block_number, t.gas_cost`,
		[chainId, finalizedNumber],
	);
	return rows.flatMap(({ hash, block_number, gas_cost }) =>
		block_number === null || gas_cost === null
			? []
			: [{ hash: bytesToHex(hash), blockNumber: block_number, gasCost: gas_cost }],
	);
}
