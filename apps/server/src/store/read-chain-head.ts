import type { Database } from "./database.ts";
import type { ChainHead } from "./facts.ts";

/** How far the chain is, or undefined where nobody has followed it yet. */
export async function readChainHead(db: Database, chainId: number): Promise<ChainHead | undefined> {
	const { rows } = await db.query<ChainHead>(
		`select chain_id as "chainId", number, timestamp, base_fee as "baseFee",
			finalized_number as "finalizedNumber", finalized_timestamp as "finalizedTimestamp",
			finalized_height as "finalizedHeight"
		from chain_heads where chain_id = $1`,
		[chainId],
	);
	return rows[0];
}
