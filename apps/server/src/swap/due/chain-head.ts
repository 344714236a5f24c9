import type { Wei } from "@geoswap/protocol";
import { concat, type Hash, hexToBytes, numberToHex, slice } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { ChainHead } from "../facts/facts.ts";

/** The blocks up to which a chain was followed. */
export type FollowedHead = {
	number: number;
	hash: Hash;
	timestamp: number;
	finalizedNumber: number;
	/** Solana: number of blocks up to the final one. 0 on other chains. */
	finalizedHeight: number;
	/** The last block whose events are in the ledger. */
	bookedNumber: number;
};

export type BlockHeader = { number: number; hash: Hash; timestamp: number; baseFee: Wei };

const selectHead = `select number, '0x' || encode(hash, 'hex') as hash, timestamp, finalized_number as "finalizedNumber",
	finalized_height as "finalizedHeight", booked_number as "bookedNumber" from chain_heads where chain_id = $1`;

export async function readHead(db: Database, chainId: number): Promise<FollowedHead | undefined> {
	const { rows } = await db.query<FollowedHead>(selectHead, [chainId]);
	return rows[0];
}

/** Returns the head, and locks it until the transaction ends. */
export async function lockHead(db: Database, chainId: number): Promise<FollowedHead | undefined> {
	const { rows } = await db.query<FollowedHead>(`${selectHead} for update`, [chainId]);
	return rows[0];
}

/** SQL for a chain's row of `head` as JSON, which has no bigints. */
export const headJson = `json_build_object('chainId', head.chain_id, 'number', head.number, 'timestamp', head.timestamp,
	'baseFee', head.base_fee::text, 'finalizedNumber', head.finalized_number,
	'finalizedTimestamp', head.finalized_timestamp, 'finalizedHeight', head.finalized_height,
	'comparedTimestamp', head.compared_timestamp, 'comparedAtMs', extract(epoch from head.compared_at) * 1000,
	'unseenOrders', array(select '0x' || encode(id, 'hex') from unnest(head.unseen_orders) as id))`;

export type HeadJson = Omit<ChainHead, "baseFee"> & { baseFee: string };

export function headFromJson(head: HeadJson): ChainHead {
	return { ...head, baseFee: BigInt(head.baseFee) };
}

/**
 * SQL for whether the head of chain $1 was not written for a second. Even if no swap waits for it, the head is written
 * this often, to distinguish it from the head of a chain that stands still.
 */
export const isHeadOld =
	"not exists (select from chain_heads where chain_id = $1 and updated_at > now() - interval '1 second')";

/** Returns the hash of a block that can still be dropped, or of the newest final one, as the follower read it. */
export async function readBlockHash(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<Hash | undefined> {
	const { rows } = await db.query<{ hash: Hash }>(
		"select '0x' || encode(hash, 'hex') as hash from chain_blocks where chain_id = $1 and number = $2",
		[chainId, number],
	);
	return rows[0]?.hash;
}

/**
 * Returns the blocks of a range that the follower read and that are kept, newest first. Blocks without events of the
 * service may be missing.
 */
export async function readBlockHashes(
	db: Database,
	{ chainId, from, upTo }: { chainId: number; from: number; upTo: number },
): Promise<{ number: number; hash: Hash }[]> {
	const { rows } = await db.query<{ number: number; hash: Hash }>(
		`select number, '0x' || encode(hash, 'hex') as hash from chain_blocks
		where chain_id = $1 and number between $2 and $3 order by number desc`,
		[chainId, from, upTo],
	);
	return rows;
}

/** Returns the blocks up to this one that have events of the service, as the follower read them, newest first. */
export async function readEventBlocks(
	db: Database,
	{ chainId, upTo, limit }: { chainId: number; upTo: number; limit: number },
): Promise<{ number: number; hash: Hash }[]> {
	const { rows } = await db.query<{ number: number; hash: Hash }>(
		`select distinct block_number as number, '0x' || encode(block_hash, 'hex') as hash from chain_events
		where chain_id = $1 and block_number <= $2 order by block_number desc limit $3`,
		[chainId, upTo, limit],
	);
	return rows;
}

/** Begins to follow a chain after this block. Events up to `bookedNumber` are in the opening balances. */
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
		namedParameters(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				booked_number, finalized_height)
			values ($chainId, $number, $hash, $timestamp, $baseFee, $number, $timestamp, $bookedNumber, $finalizedHeight)`,
			{
				chainId,
				number: block.number,
				hash: hexToBytes(block.hash),
				timestamp: block.timestamp,
				baseFee: block.baseFee,
				bookedNumber,
				finalizedHeight,
			},
		),
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
 * Returns the substitute for a block's hash on Solana, where blocks are not read: the slot, and how often the head was
 * written. A follower that finds another value than it began with was overtaken.
 */
export function slotHash(slot: number, before?: Hash): Hash {
	const writes = before ? BigInt(slice(before, 16)) + 1n : 0n;
	return concat([numberToHex(slot, { size: 16 }), numberToHex(writes, { size: 16 })]);
}
