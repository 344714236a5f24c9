import type { Milliseconds } from "@geoswap/protocol";
import { type DatabasePool, inTransaction } from "../database/database.ts";

/** Adds a delivery for each newly published event and each webhook of its account. */
export async function queueDeliveries(pool: DatabasePool, { nowMs }: { nowMs: Milliseconds }): Promise<void> {
	await inTransaction(
		pool,
		(db) =>
			db.query({
				name: "queue-deliveries",
				text: `with queued as (
						insert into webhook_deliveries (webhook_id, position, swap_id, next_at)
						select w.id, e.position, e.swap_id, to_timestamp($1::double precision / 1000)
						from event_head h join events e on e.position > h.queued
							join webhooks w on w.account_id = e.account_id and w.disabled_at is null and e.position > w.after
						on conflict do nothing
					)
					update event_head set queued = position where queued < position`,
				values: [nowMs],
			}),
		// A separate statement, because one that waits for a lock does not read what was published meanwhile.
		{ first: "select position from event_head for no key update" },
	);
}
