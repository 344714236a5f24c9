import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** Until a chain's head, or its finalized block, has this number. */
export type WaitFor = {
	head?: { chainId: number; number: number };
	finalized?: { chainId: number; number: number };
};

/**
 * Which blocks wake the swap. Its events wake it anyway: `due` where one has marked it since it looked. `stale` where it
 * has looked again since, and has a signal of another name.
 */
export async function setWait(
	db: Database,
	{ swapId, signalId }: { swapId: SwapUuid; signalId: string },
	{ head, finalized }: WaitFor,
): Promise<"set" | "due" | "stale"> {
	// Held until the transaction ends: a look that comes now reads all that was written here.
	const { rows } = await db.query<{ head_number: number | null }>(
		"select head_number from waits where swap_id = $1 and signal_id = $2 for update",
		[swapId, signalId],
	);
	if (!rows[0]) return "stale";
	if (rows[0].head_number === 0) return "due";
	await db.query(
		`update waits set head_chain_id = $2, head_number = $3, finalized_chain_id = $4, finalized_number = $5
		where swap_id = $1`,
		[
			swapId,
			head?.chainId ?? null,
			head?.number ?? null,
			finalized?.chainId ?? null,
			finalized?.number ?? null,
		],
	);
	return "set";
}

/**
 * Whether one of those blocks is there already. To be asked once the wait is committed: whoever wakes reads the waits
 * after it committed the block, so one of the two sees the other.
 */
export async function isWaitOver(db: Database, { head, finalized }: WaitFor): Promise<boolean> {
	const { rows } = await db.query(
		`select from chain_heads
		where chain_id = $1 and number >= $2 or chain_id = $3 and finalized_number >= $4 limit 1`,
		[head?.chainId ?? null, head?.number ?? null, finalized?.chainId ?? null, finalized?.number ?? null],
	);
	return rows.length > 0;
}
