import { type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import type { JobKind } from "./job.ts";

/** The event that shows that a job is done. */
export const doneEvent: Record<JobKind, string> = {
	open: "Opened",
	fill: "Filled",
	void: "Voided",
	release: "Released",
	refund: "Refunded",
};

/** Whoever sent it: what a job was for has happened. Returns the orders of such events. */
export async function finishJobs(
	db: Database,
	{ chainId, events }: { chainId: number; events: readonly { name: string; orderId: Hex | undefined }[] },
): Promise<Hex[]> {
	const done = Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.flatMap((event) =>
			event.name === name && event.orderId ? [{ kind, orderId: event.orderId }] : [],
		),
	);
	if (done.length === 0) return [];
	await db.query(
		`update jobs set state = 'done', reason = null, updated_at = now()
		where chain_id = $1 and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))`,
		[chainId, done.map((job) => hexToBytes(job.orderId)), done.map((job) => job.kind)],
	);
	return done.map((job) => job.orderId);
}
