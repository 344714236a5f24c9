import type { Seconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

/** Reads how long ago, by the database's clock, a worker last processed data of the chain, and if it saw the vault. */
export async function readFollowing(
	db: Database,
	chainId: number,
): Promise<{ ageSeconds: Seconds; hasInventory: boolean } | undefined> {
	const { rows } = await db.query<{ ageSeconds: Seconds; hasInventory: boolean }>(
		`select extract(epoch from clock_timestamp() - updated_at)::float8 as "ageSeconds",
			exists (select from inventory where chain_id = $1) as "hasInventory"
		from chain_heads where chain_id = $1`,
		[chainId],
	);
	return rows[0];
}
