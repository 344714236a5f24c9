import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/**
 * Records that the database was restored from a backup, so that what was written between the backup and now is lost.
 */
export async function noteRestore(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<void> {
	await db.query("insert into restores (at) values ($1) on conflict do nothing", [new Date(nowMs)]);
}

/** Returns whether a write of that moment, or a later one, may be lost. */
export async function wasRestoredSince(db: Database, sinceMs: Milliseconds): Promise<boolean> {
	const { rows } = await db.query<{ was_restored: boolean }>({
		name: "was-restored-since",
		text: "select exists (select from restores where at >= $1) as was_restored",
		values: [new Date(sinceMs)],
	});
	return rows[0]?.was_restored ?? false;
}

/** A restore for which not all lost orders were found yet. */
export type UnsearchedRestore = {
	at: Date;
	/** The chain's newest final block that was followed. */
	finalizedNumber: number;
	/** Its time in Unix seconds. */
	finalizedTimestamp: number;
};

/** Returns the newest restore after which this chain's orders have not been searched yet. */
export async function readUnsearchedRestore(
	db: Database,
	chainId: number,
): Promise<UnsearchedRestore | undefined> {
	const { rows } = await db.query<UnsearchedRestore>(
		`select r.at, h.finalized_number as "finalizedNumber", h.finalized_timestamp as "finalizedTimestamp"
		from restores r, chain_heads h where r.searched_at is null and h.chain_id = $1 order by r.at desc limit 1`,
		[chainId],
	);
	return rows[0];
}

/** Records that nothing is left to search for this restore, and for earlier ones. */
export async function markSearched(db: Database, { at }: Pick<UnsearchedRestore, "at">): Promise<void> {
	await db.query("update restores set searched_at = now() where at <= $1 and searched_at is null", [at]);
}
