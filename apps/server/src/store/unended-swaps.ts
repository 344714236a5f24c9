import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** Swaps on which work may be left, in the order of their ids, from after one of them on. */
export async function readUnendedSwaps(
	db: Database,
	{ createdBeforeMs, after, limit }: { createdBeforeMs: number; after: SwapUuid | undefined; limit: number },
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ id: SwapUuid }>(
		`select id from swaps
		where ended_at is null and created_at < to_timestamp($1::double precision / 1000)
			and ($2::uuid is null or id > $2)
		order by id limit $3`,
		[createdBeforeMs, after ?? null, limit],
	);
	return rows.map((row) => row.id);
}
