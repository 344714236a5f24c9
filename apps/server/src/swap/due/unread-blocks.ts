import { type Hash, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** A block that was followed without all of its events. */
export type UnreadBlock = {
	number: number;
	hash: Hash;
	reason: string;
	/** True if only events of orders that have no undecided swap may be missing. The chain takes new swaps then. */
	isPartial?: boolean;
};

/** Returns a chain's unread blocks, those that were requested longest ago first. */
export async function readUnreadBlocks(
	db: Database,
	{ chainId, limit }: { chainId: number; limit: number },
): Promise<UnreadBlock[]> {
	const { rows } = await db.query<UnreadBlock>(
		`select number, '0x' || encode(hash, 'hex') as hash, reason, is_partial as "isPartial" from unread_blocks
		where chain_id = $1 order by is_partial, tried_at, number limit $2`,
		[chainId, limit],
	);
	return rows;
}

/** Records that a block is unread. */
export async function saveUnreadBlock(
	db: Database,
	{ chainId, number, hash, reason, isPartial = false }: UnreadBlock & { chainId: number },
): Promise<void> {
	await db.query(
		`insert into unread_blocks (chain_id, number, hash, reason, is_partial) values ($1, $2, $3, $4, $5)
		on conflict (chain_id, number) do update
		set hash = excluded.hash, reason = excluded.reason, is_partial = excluded.is_partial, tried_at = now()`,
		[chainId, number, hexToBytes(hash), reason, isPartial],
	);
}

/** Locks an unread block until the transaction ends. Returns whether it is still unread and was not dropped. */
export async function lockUnreadBlock(
	db: Database,
	{ chainId, number, hash }: { chainId: number; number: number; hash: Hash },
): Promise<boolean> {
	const { rowCount } = await db.query(
		"select from unread_blocks where chain_id = $1 and number = $2 and hash = $3 for update",
		[chainId, number, hexToBytes(hash)],
	);
	return rowCount === 1;
}

export async function deleteUnreadBlock(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<void> {
	await db.query("delete from unread_blocks where chain_id = $1 and number = $2", [chainId, number]);
}

/** Deletes the unread blocks that the chain has dropped. */
export async function deleteUnreadBlocksAbove(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<void> {
	await db.query("delete from unread_blocks where chain_id = $1 and number > $2", [chainId, number]);
}

/** Deletes the blocks that may lack strangers' events only, a day after they were followed. */
export async function forgetPartialBlocks(db: Database, chainId: number): Promise<void> {
	await db.query(
		"delete from unread_blocks where chain_id = $1 and is_partial and since < now() - interval '1 day'",
		[chainId],
	);
}
