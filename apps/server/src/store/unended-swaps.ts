import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

type UnendedSwap = {
	id: SwapUuid;
	/** Which execution of its workflow looked last. */
	execution: number;
};

/**
 * All but very few have ended by then. What looks for those that have not looks often among the newer ones, and seldom
 * among all: that locks each day's partition with its indices, of locks that all connections share.
 */
export const recentMs = 2 * 86_400_000;

/** Swaps on which work may be left, in the order of their ids, from after one of them on. */
export async function readUnendedSwaps(
	db: Database,
	{ createdBeforeMs, after, limit }: { createdBeforeMs: number; after: SwapUuid | undefined; limit: number },
): Promise<UnendedSwap[]> {
	const { rows } = await db.query<UnendedSwap>(
		`select id, coalesce(execution, 0) as execution from swaps left join waits on swap_id = id
		where ended_at is null and created_at < to_timestamp($1::double precision / 1000)
			and ($2::uuid is null or id > $2)
		order by id limit $3`,
		[createdBeforeMs, after ?? null, limit],
	);
	return rows;
}
