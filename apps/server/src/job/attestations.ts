import type { AttestationKind, AttesterSet } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { Job } from "../swap/facts/job.ts";
import { type JobRow, jobFromRow } from "./jobs.ts";

/**
 * Returns the jobs of an origin chain that attesters have yet to sign for; those that were declined last come last. The
 * limit is per kind, because releases that no attester signs must not stand in the way of refunds.
 */
export async function readUnattestedJobs(
	db: Database,
	{ chainId, limitPerKind }: { chainId: number; limitPerKind: number },
): Promise<Job[]> {
	const { rows } = await db.query<JobRow>(
		`(select * from jobs where chain_id = $1 and kind = 'release' and state = 'unattested'
			order by updated_at limit $2)
		union all
		(select * from jobs where chain_id = $1 and kind = 'refund' and state = 'unattested'
			order by updated_at limit $2)`,
		[chainId, limitPerKind],
	);
	return rows.map(jobFromRow);
}

/**
 * Stores signatures over a list of orders and hands their jobs to the lanes. The signatures bind the whole list, so it
 * is all jobs or none. Returns false if one has changed meanwhile.
 */
export async function storeAttestation(
	db: Database,
	{
		id,
		chainId,
		kind,
		set,
		signatures,
		orderIds,
	}: {
		id: string;
		chainId: number;
		kind: AttestationKind;
		set: AttesterSet;
		signatures: Hex[];
		orderIds: readonly Hex[];
	},
): Promise<boolean> {
	const { rowCount } = await db.query({
		name: "store-attestation",
		...namedParameters(
			`with held as materialized (
				select swap_id, kind from jobs
				where chain_id = $chainId and kind = $jobKind and state = 'unattested' and order_id = any($orderIds::bytea[])
				order by swap_id for update
			), attestation as (
				insert into attestations (id, chain_id, kind, threshold, attesters, signatures, order_ids)
				select $id, $chainId, $kind, $threshold, $attesters, $signatures, $orderIdsJson
				where (select count(*) from held) = cardinality($orderIds::bytea[])
				returning id
			)
			update jobs j set state = 'queued', attestation_id = attestation.id, updated_at = now()
			from held, attestation where j.swap_id = held.swap_id and j.kind = held.kind`,
			{
				id,
				chainId,
				kind,
				threshold: set.threshold,
				attesters: JSON.stringify(set.attesters),
				signatures: JSON.stringify(signatures),
				orderIdsJson: JSON.stringify(orderIds),
				jobKind: jobKindOf[kind],
				orderIds: orderIds.map((orderId) => hexToBytes(orderId)),
			},
		),
	});
	return rowCount === orderIds.length;
}

/** Moves jobs behind the others, because orders that no attester signs must not stand in their way. */
export async function postponeUnattested(
	db: Database,
	{ chainId, kind, orderIds }: { chainId: number; kind: AttestationKind; orderIds: readonly Hex[] },
): Promise<void> {
	if (orderIds.length === 0) return;
	await db.query(
		`update jobs set updated_at = now()
		where chain_id = $1 and kind = $2 and state = 'unattested' and order_id = any($3)`,
		[chainId, jobKindOf[kind], orderIds.map((orderId) => hexToBytes(orderId))],
	);
}

const jobKindOf = { Release: "release", Refund: "refund" } as const satisfies Record<AttestationKind, string>;
