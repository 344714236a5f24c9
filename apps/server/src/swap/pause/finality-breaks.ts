import type { Database } from "../../database/database.ts";

/**
 * What is known of a chain that does not have a block any more that was final: nothing yet, that it is paused for it, or
 * that a person has lifted that pause and so accepts what the chain says now.
 *
 * A lifted pause counts for the head at which it was set. A head that was written since is another's.
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
