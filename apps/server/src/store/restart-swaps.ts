import { hexToBytes } from "viem";
import type { Database } from "./database.ts";
import type { SwapRecord } from "./swap-record.ts";

/**
 * A number that no execution had before: an engine counts them by ones, and a database that is older than the engine
 * does not know how far.
 */
function executionAfterRestore(nowMs: number): number {
	return Math.floor(nowMs / 60_000);
}

/**
 * Leaves every swap that has not ended to a new execution, which the sweep starts: those that the engine remembers wait
 * for signals, or have ended, by what another database said. Returns how many there are.
 */
export async function restartSwaps(db: Database, { nowMs }: { nowMs: number }): Promise<number> {
	const { rowCount } = await db.query(
		`insert into waits (swap_id, order_id, signal_id, execution)
		select id, order_id, 'restored', $1 from swaps where ended_at is null
		on conflict (swap_id) do update set signal_id = excluded.signal_id,
			execution = greatest(waits.execution + 1, excluded.execution),
			head_chain_id = null, head_number = null, finalized_chain_id = null, finalized_number = null`,
		[executionAfterRestore(nowMs)],
	);
	return rowCount ?? 0;
}

/** Leaves one swap to an execution that no engine remembers, and returns its number. */
export async function startAnew(
	db: Database,
	{ swap: { id, orderId }, nowMs }: { swap: Pick<SwapRecord, "id" | "orderId">; nowMs: number },
): Promise<number> {
	const execution = executionAfterRestore(nowMs);
	await db.query(
		`insert into waits (swap_id, order_id, signal_id, execution) values ($1, $2, 'restored', $3)
		on conflict (swap_id) do nothing`,
		[id, hexToBytes(orderId), execution],
	);
	return execution;
}
