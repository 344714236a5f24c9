import { orderSchema, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import type { Database } from "../database/database.ts";
import type { Named, Row } from "../database/rows.ts";
import type { Job, JobKind, JobReason } from "../swap/facts/job.ts";
import {
	deliveryFromJson,
	deliveryToJson,
	signedOpFromJson,
	signedOpToJson,
} from "../swap/record/swap-json.ts";

export type NewJob = {
	[Kind in JobKind]: Pick<Job<Kind>, "swapId" | "kind" | "chainId" | "orderId" | "order" | "payload"> & {
		state: "queued" | "unattested";
		/** True to do it again if it is done, refused or still unattested, because a chain dropped what was done. */
		again?: boolean;
	};
}[JobKind];

export type JobKey = { swapId: SwapUuid; kind: JobKind };

/**
 * Makes jobs wait for other signatures, because their list was signed as a whole and can no longer be sent like that.
 */
export async function unattestJobs(db: Database, attestationId: string): Promise<void> {
	await db.query(
		`update jobs set state = 'unattested', attestation_id = null, lease = null, leased_until = null, updated_at = now()
		where state = 'queued' and attestation_id = $1`,
		[attestationId],
	);
}

export type JobRow = Row<"jobs", Named<typeof jobColumns>> & {
	payload: PayloadJson;
	reason: JobReason | null;
};

/** The columns of a JobRow, for prepared statements, which with `*` fail once a later version has added a column. */
export const jobColumns =
	"swap_id, kind, chain_id, order_id, order_terms, payload, state, alone, failures, reason, attestation_id";

export function jobFromRow(row: JobRow): Job {
	return {
		swapId: row.swap_id,
		kind: row.kind,
		chainId: row.chain_id,
		orderId: bytesToHex(row.order_id),
		order: orderSchema.parse(row.order_terms),
		payload: payloadFromJson(row),
		state: row.state,
		alone: row.alone,
		failures: row.failures,
		reason: row.reason ?? undefined,
		attestationId: row.attestation_id ?? undefined,
	} as Job;
}

type PayloadJson = {
	op?: Parameters<typeof signedOpFromJson>[0];
	delivery?: Parameters<typeof deliveryFromJson>[0];
	attested?: boolean;
};

export function payloadToJson(job: NewJob): PayloadJson {
	if (job.kind === "open") return { op: signedOpToJson(job.payload.op) };
	if (job.kind === "fill") return { delivery: deliveryToJson(job.payload.delivery) };
	return job.payload;
}

function payloadFromJson({ kind, payload }: JobRow): Job["payload"] {
	if (kind === "open") return { op: signedOpFromJson(payload.op) };
	if (payload.delivery) return { delivery: deliveryFromJson(payload.delivery) };
	return payload.attested === undefined ? {} : { attested: payload.attested };
}
