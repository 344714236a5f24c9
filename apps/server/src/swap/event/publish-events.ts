import type { Milliseconds } from "@geoswap/protocol";
import { type DatabasePool, inTransaction } from "../../database/database.ts";

/** Events that one transaction publishes, few enough that others wait only briefly for the lock. */
const batch = 1_000;

/**
 * Gives positions to the committed events of the outbox and returns their number. The process that holds the row of the
 * head is the only publisher. The next one waits until these positions are visible, so a reader that remembers the last
 * position it read misses nothing.
 */
export async function publishEvents(
	pool: DatabasePool,
	{ limit = batch }: { limit?: number } = {},
): Promise<number> {
	return inTransaction(
		pool,
		async (db) => {
			// A separate statement, because one that waits for a lock does not read what was committed meanwhile.
			const { rowCount } = await db.query({
				name: "publish-events",
				text: `with taken as (
						delete from event_outbox where id in (select id from event_outbox order by id limit $1)
						returning id, account_id, swap_id, number, at, status, stage, failure, origin_tx_hash, delivery_tx_hash,
							refund_tx_hash, delivered_amount, updated_at, opened_at, delivered_at, decided_at
					), head as (
						update event_head set position = position + (select count(*) from taken)
						where exists (select from taken) returning position
					)
					insert into events (position, account_id, swap_id, number, at, status, stage, failure, origin_tx_hash,
						delivery_tx_hash, refund_tx_hash, delivered_amount, updated_at, opened_at, delivered_at, decided_at)
					select head.position - count(*) over () + row_number() over (order by id), account_id, swap_id, number, at,
						status, stage, failure, origin_tx_hash, delivery_tx_hash, refund_tx_hash, delivered_amount, updated_at, opened_at, delivered_at, decided_at
					from taken, head`,
				values: [limit],
			});
			return rowCount ?? 0;
		},
		{ first: "select position from event_head for no key update" },
	);
}

/** Deletes up to a batch of published events that are older than the retention. Returns their number. */
export async function pruneEvents(
	pool: DatabasePool,
	{ retentionMs, nowMs, limit = batch }: { retentionMs: Milliseconds; nowMs: Milliseconds; limit?: number },
): Promise<number> {
	const { rows } = await pool.query<{ pruned: number }>({
		name: "prune-events",
		text: `with old as (
				-- In the order of positions: the oldest event that stays ends the search.
				select position from (select position, at from events order by position limit $2) oldest
				where at < to_timestamp($1::double precision / 1000)
			), pruned as (
				delete from events where position in (select position from old) returning position
			), head as (
				update event_head set pruned = greatest(pruned, (select max(position) from pruned))
				where exists (select from pruned)
			)
			select count(*)::integer as pruned from pruned`,
		values: [nowMs - retentionMs, limit],
	});
	return rows[0]?.pruned ?? 0;
}
