import type { SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "./database.ts";

type UnendedSwap = {
	id: SwapUuid;
	orderId: Hex;
	/** Which execution of its workflow looked last; undefined where none did. */
	execution: number | undefined;
	createdAt: Date;
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
	const { rows } = await db.query<{
		id: SwapUuid;
		order_id: Buffer;
		execution: number | null;
		created_at: Date;
	}>(
		`select id, swaps.order_id, execution, created_at from swaps left join waits on swap_id = id
		where ended_at is null and created_at < to_timestamp($1::double precision / 1000)
			and ($2::uuid is null or id > $2)
		order by id limit $3`,
		[createdBeforeMs, after ?? null, limit],
	);
	return rows.map((row) => ({
		id: row.id,
		orderId: bytesToHex(row.order_id),
		execution: row.execution ?? undefined,
		createdAt: row.created_at,
	}));
}
