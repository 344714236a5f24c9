import { isSolana } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "../database/database.ts";
import { doneEvent } from "./finish-jobs.ts";

/**
 * Reopens jobs whose event was reorged. The lane broadcasts the transaction again, or, if the job has none, it waits
 * for one. Returns the orders that lost an event.
 */
export async function undoJobs(
	db: Database,
	{ chainId, lost }: { chainId: number; lost: readonly { order_id: Buffer | null; name: string }[] },
): Promise<Hex[]> {
	const events = lost.flatMap(({ order_id, name }) => (order_id ? [{ orderId: order_id, name }] : []));
	const undone = Object.entries(doneEvent).flatMap(([kind, name]) =>
		events.filter((event) => event.name === name).map(({ orderId }) => ({ kind, orderId })),
	);
	await db.query(
		`with held as materialized (
			select swap_id, kind from jobs
			where chain_id = $1 and state = 'done' and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))
			order by swap_id, kind for update
		)
		update jobs j set updated_at = now(), state = case
			when exists (select from lane_transactions t
				where t.chain_id = j.chain_id and t.relayer = j.relayer and t.nonce = j.nonce and t.state <> 'final')
			then 'sent'
			when $4 and (j.kind = 'release' or (j.kind = 'refund' and (payload->>'attested')::boolean)) then 'unattested'
			else 'queued' end
		from held where (j.swap_id, j.kind) = (held.swap_id, held.kind)`,
		[chainId, undone.map((job) => job.orderId), undone.map((job) => job.kind), !isSolana(chainId)],
	);
	return [...new Set(events.map(({ orderId }) => bytesToHex(orderId)))];
}
