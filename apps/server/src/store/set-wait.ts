import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** Until a chain's head, or its finalized block, has this number. */
export type WaitFor = {
	head?: { chainId: number; number: number };
	finalized?: { chainId: number; number: number };
};

/** Which blocks wake the swap. Its events wake it anyway: false where one has marked it since it looked. */
export async function setWait(
	db: Database,
	swapId: SwapUuid,
	{ head, finalized }: WaitFor,
): Promise<boolean> {
	const { rowCount } = await db.query(
		`update waits set head_chain_id = $2, head_number = $3, finalized_chain_id = $4, finalized_number = $5
		where swap_id = $1 and head_number is distinct from 0`,
		[
			swapId,
			head?.chainId ?? null,
			head?.number ?? null,
			finalized?.chainId ?? null,
			finalized?.number ?? null,
		],
	);
	return rowCount === 1;
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
