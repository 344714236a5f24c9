import { bytesToHex, type Hex } from "viem";
import type { Database } from "../database/database.ts";
import type { Row } from "../database/rows.ts";
import { type JobReason, maxFailures } from "../swap/facts/job.ts";
import { skipCause } from "./skip-cause.ts";

/**
 * SQL for whether a job is refused permanently. Jobs that pay what the escrow or the vault owes are retried forever,
 * because a release that is given up is a loss. A Solana wallet's message is co-signed once. An op that was mined alone
 * and opened nothing failed because of its wallet, and each retry would cost as much. A recipient that took the payment
 * in simulation and refused it on the chain gets no second try, because each would be another chance to wait for a
 * better price.
 */
const isOut = `(s.kind in ('open', 'fill') and j.failures + s.failures >= ${maxFailures}
	or s.kind = 'open' and s.failures > 0 and s.was_alone
	or s.kind = 'fill' and s.reason = 'recipient'
	or j.payload->'op'->>'kind' = 'solana')`;

/**
 * Counts a failure (verdictOnFailure) for each job of a mined transaction without the job's event, once a block is on
 * top of it. The job is queued again for a separate transaction; an open or a fill is refused after some failures. A
 * job that was attested in a list needs new signatures for itself. Returns their orders.
 */
export async function countFailures(
	db: Database,
	{ chainId, headNumber }: { chainId: number; headNumber: number },
): Promise<Hex[]> {
	const { rows } = await db.query<FailedJob>(
		`select j.swap_id, j.kind, j.order_id, j.payload->'delivery'->>'kind' as delivery, t.kind = 'cancel' as cancelled,
			jsonb_array_length(t.jobs) = 1 as was_alone,
			(select data->>'reason' from chain_events e
			where e.chain_id = t.chain_id and e.order_id = j.order_id and e.name = 'Skipped'
				and e.transaction_hash = t.hash limit 1) as selector
		from jobs j join lane_transactions t using (chain_id, relayer, nonce)
		where chain_id = $1 and j.state = 'sent' and t.state in ('mined', 'final') and t.block_number < $2
		order by j.swap_id, j.kind for update of j`,
		[chainId, headNumber],
	);
	if (rows.length === 0) return [];
	await db.query(
		`update jobs j set
			failures = j.failures + s.failures,
			state = case when ${isOut} then 'refused'
				when attestation_id is not null then 'unattested' else 'queued' end,
			reason = case when ${isOut} then s.reason end,
			alone = alone or s.failures > 0, attestation_id = null, relayer = null, nonce = null, updated_at = now()
		from unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::boolean[])
			as s (swap_id, kind, failures, reason, was_alone)
		where j.swap_id = s.swap_id and j.kind = s.kind`,
		[
			rows.map((row) => row.swap_id),
			rows.map((row) => row.kind),
			rows.map((row) => (row.cancelled ? 0 : 1)),
			rows.map(reasonOf),
			rows.map((row) => row.was_alone),
		],
	);
	return rows.map((row) => bytesToHex(row.order_id));
}

type FailedJob = Row<"jobs", "swap_id" | "kind" | "order_id"> & {
	delivery: string | null;
	cancelled: boolean;
	was_alone: boolean;
	selector: Hex | null;
};

/**
 * Returns the reason of a job that is refused after this. A lane that simulates the same fill reads the vault's error
 * by the same map.
 */
function reasonOf({ selector, delivery }: FailedJob): JobReason {
	// On Solana nothing shows why a payout failed after its simulation succeeded. It may not be the recipient's fault.
	if (delivery === "payout") return "too_late";
	const cause = skipCause(selector ?? "0x00000000", { throughRouter: delivery === "router" });
	switch (cause) {
		case "gas":
		case "decided":
		case "not_open":
		case "other":
			return "reverted";
		default:
			return cause;
	}
}
