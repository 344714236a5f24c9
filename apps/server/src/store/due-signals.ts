import { type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";

/** Whoever waits for one of these orders is to be woken, even if this process ends before it does so. */
export async function markDue(
	db: Database,
	{ chainId, orderIds }: { chainId: number; orderIds: readonly Hex[] },
): Promise<void> {
	if (orderIds.length === 0) return;
	// It is woken whatever else it waits for, so that can be overwritten.
	await db.query(
		`update waits set head_chain_id = $1, head_number = 0 where swap_id in (
			select swap_id from waits where order_id = any($2) order by swap_id for update
		)`,
		[chainId, orderIds.map((id) => hexToBytes(id))],
	);
}

/**
 * The signals of those who wait for what has come: one of these orders, or how far the chain is. Read after the facts
 * are committed: whoever began to wait before that is seen here, whoever did later has seen the facts.
 */
export async function readDueSignals(
	db: Database,
	{ chainId, orderIds }: { chainId: number; orderIds: readonly Hex[] },
): Promise<string[]> {
	const { rows } = await db.query<{ signal_id: string }>(
		`select w.signal_id from waits w join chain_heads h on h.chain_id = $1
		where w.head_chain_id = $1 and w.head_number <= h.number
		union select w.signal_id from waits w join chain_heads h on h.chain_id = $1
		where w.finalized_chain_id = $1 and w.finalized_number <= h.finalized_number
		union select signal_id from waits where order_id = any($2)`,
		[chainId, orderIds.map((id) => hexToBytes(id))],
	);
	return rows.map((row) => row.signal_id);
}

/** These were raised. Whoever waits again has a signal of another name. */
export async function clearSignals(db: Database, signalIds: readonly string[]): Promise<void> {
	await db.query(
		`update waits set head_chain_id = null, head_number = null, finalized_chain_id = null, finalized_number = null
		where signal_id = any($1) and swap_id in (
			select swap_id from waits where signal_id = any($1) order by swap_id for update
		)`,
		[signalIds],
	);
}

/** How long a head may stand still that nobody waits for, so that a chain which stands still looks different. */
const headStandsFor = "1 second";

/** Whether someone waits for the chain to be here, or its head was not written for a while. */
export async function isHeadWanted(
	db: Database,
	{ chainId, number, finalizedNumber }: { chainId: number; number: number; finalizedNumber: number },
): Promise<boolean> {
	const { rows } = await db.query<{ wanted: boolean }>(
		`select exists (select from waits where head_chain_id = $1 and head_number <= $2)
			or exists (select from waits where finalized_chain_id = $1 and finalized_number <= $3)
			or not exists (select from chain_heads
				where chain_id = $1 and updated_at > now() - interval '${headStandsFor}') as wanted`,
		[chainId, number, finalizedNumber],
	);
	return rows[0]?.wanted ?? true;
}
