import { type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import type { JobKind } from "../swap/facts/job.ts";

/** The event that a job of each kind is for. The job is done once the chain has emitted it. */
export const doneEvent: Record<JobKind, string> = {
	open: "Opened",
	fill: "Filled",
	void: "Voided",
	release: "Released",
	refund: "Refunded",
};

type OrderEvent = { name: string; orderId: Hex | undefined };

/** Returns the jobs that these events complete, also if a third party sent the transaction. */
export function doneJobs(events: readonly OrderEvent[]): { kind: string; orderId: Hex }[] {
	return Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.flatMap((event) =>
			event.name === name && event.orderId ? [{ kind, orderId: event.orderId }] : [],
		),
	);
}

/**
 * Marks the jobs that these events complete as done, also if a third party sent the transaction. The events need not be
 * final, because if a reorg drops one, `undoJobs` reopens its job. Rows are locked in one order, so that two
 * transactions that lock the same jobs cannot deadlock.
 */
export async function finishJobs(
	db: Database,
	{ chainId, events }: { chainId: number; events: readonly OrderEvent[] },
): Promise<void> {
	const done = doneJobs(events);
	if (done.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id, kind from jobs
			where chain_id = $1 and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))
			order by swap_id, kind for update
		)
		update jobs j set state = 'done', reason = null, lease = null, leased_until = null, updated_at = now()
		from held where (j.swap_id, j.kind) = (held.swap_id, held.kind)`,
		[chainId, done.map((job) => hexToBytes(job.orderId)), done.map((job) => job.kind)],
	);
}
