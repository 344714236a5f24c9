import { bytesToHex, concat, type Hash, hexToBytes, numberToHex, slice } from "viem";
import type { Database } from "./database.ts";

/** How far a chain was followed. */
export type FollowedHead = {
	number: number;
	hash: Hash;
	finalizedNumber: number;
	/** Solana: how many blocks there were up to the final one. Else 0. */
	finalizedHeight: number;
	/** Up to here the events are in the ledger. */
	bookedNumber: number;
};

export type BlockHeader = { number: number; hash: Hash; timestamp: number; baseFee: bigint };

export async function readHead(db: Database, chainId: number): Promise<FollowedHead | undefined> {
	return head(db, "select * from chain_heads where chain_id = $1", chainId);
}

/** The head, which nobody else can move until the transaction ends. */
export async function lockHead(db: Database, chainId: number): Promise<FollowedHead | undefined> {
	return head(db, "select * from chain_heads where chain_id = $1 for update", chainId);
}

async function head(db: Database, sql: string, chainId: number): Promise<FollowedHead | undefined> {
	const { rows } = await db.query<{
		number: number;
		hash: Buffer;
		finalized_number: number;
		finalized_height: number;
		booked_number: number;
	}>(sql, [chainId]);
	const [row] = rows;
	return (
		row && {
			number: row.number,
			hash: bytesToHex(row.hash),
			finalizedNumber: row.finalized_number,
			finalizedHeight: row.finalized_height,
			bookedNumber: row.booked_number,
		}
	);
}

/** The hash of a block that can still be dropped, or of the newest final one, as it was seen. */
export async function readBlockHash(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<Hash | undefined> {
	const { rows } = await db.query<{ hash: Buffer }>(
		"select hash from chain_blocks where chain_id = $1 and number = $2",
		[chainId, number],
	);
	return rows[0] && bytesToHex(rows[0].hash);
}

/** The blocks up to this one in which something of ours happened, as they were seen, newest first. */
export async function readEventBlocks(
	db: Database,
	{ chainId, upTo, limit }: { chainId: number; upTo: number; limit: number },
): Promise<{ number: number; hash: Hash }[]> {
	const { rows } = await db.query<{ block_number: number; block_hash: Buffer }>(
		`select distinct block_number, block_hash from chain_events where chain_id = $1 and block_number <= $2
		order by block_number desc limit $3`,
		[chainId, upTo, limit],
	);
	return rows.map(({ block_number, block_hash }) => ({ number: block_number, hash: bytesToHex(block_hash) }));
}

/** Following begins after this block. What happened up to `bookedNumber` is in the opening balances. */
export async function insertHead(
	db: Database,
	{
		chainId,
		block,
		bookedNumber,
		finalizedHeight = 0,
	}: { chainId: number; block: BlockHeader; bookedNumber: number; finalizedHeight?: number },
): Promise<void> {
	await db.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number, finalized_height)
		values ($1, $2, $3, $4, $5, $2, $4, $6, $7)`,
		[
			chainId,
			block.number,
			hexToBytes(block.hash),
			block.timestamp,
			block.baseFee,
			bookedNumber,
			finalizedHeight,
		],
	);
}

export async function insertBlock(
	db: Database,
	{ chainId, block }: { chainId: number; block: BlockHeader },
): Promise<void> {
	await db.query("insert into chain_blocks (chain_id, number, hash, timestamp) values ($1, $2, $3, $4)", [
		chainId,
		block.number,
		hexToBytes(block.hash),
		block.timestamp,
	]);
}

/**
 * What stands for a block's hash on Solana, where blocks are not read: the slot, and how often the head was written.
 * Whoever finds another one than he began with was overtaken.
 */
export function slotHash(slot: number, before?: Hash): Hash {
	const writes = before ? BigInt(slice(before, 16)) + 1n : 0n;
	return concat([numberToHex(slot, { size: 16 }), numberToHex(writes, { size: 16 })]);
}
