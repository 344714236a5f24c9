import type { Database } from "../../database/database.ts";

/**
 * Returns what is known of a chain that no longer has a block that was final: nothing yet, that it is paused for this,
 * or that an operator has lifted that pause and so accepts the chain's current blocks.
 *
 * A lifted pause counts only for the head at which it was set, not for a head that was written since.
 */
export async function readFinalityBreak(
	db: Database,
	chainId: number,
): Promise<"unknown" | "paused" | "accepted"> {
	const { rows } = await db.query<{ is_lifted: boolean }>(
		`select lifted_at is not null as is_lifted from pauses p join chain_heads h using (chain_id)
		where chain_id = $1 and cause = 'finality' and (lifted_at is null or since >= h.updated_at)
		order by lifted_at nulls first limit 1`,
		[chainId],
	);
	const [row] = rows;
	if (!row) return "unknown";
	return row.is_lifted ? "accepted" : "paused";
}
