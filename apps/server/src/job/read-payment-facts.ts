import type { Amount, SwapUuid, UsdCents } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { CrossCheck } from "../swap/facts/facts.ts";
import type { Job } from "../swap/facts/job.ts";

/** Facts that justify a payment to or from an order's swap, from rows that only followers, submits and lanes write. */
export type PaymentFacts = {
	/** The block in which the follower has found the order opened; absent if it has not. */
	opened?: { blockNumber: number };
	/** The second provider's cross-check of the deposit in its present block; absent if it does not have it there. */
	crossCheck?: CrossCheck;
	/** The follower's head and final block of the order's origin; absent if it does not follow that chain. */
	origin?: { number: number; finalizedNumber: number };
	/** The amount of a token that was reserved for the swap, and the native token for its top-up. */
	reserved?: { chainId: number; token: Hex; amount: Amount; topUp: Amount };
	/** Absent if there is no such swap. */
	swap?: { valueUsdCents: UsdCents; isSettled: boolean };
	/** Whether a lane has signed a fill of this order before, when the facts allowed it. Only read for settled swaps. */
	wasSigned: boolean;
	/** The proof by which the facts are recognised later. Absent if they were not read from the store. */
	proof?: PaymentProof;
};

/** Values that show whether facts are unchanged, or better only by how far the origin chain is. */
export type PaymentProof = { digest: string; originNumber: number; originFinalized: number };

/**
 * A query for the facts about jobs, with the parameters that `paidJobColumns` returns. The digest is over everything
 * that a payment may depend on, except how far the origin chain is.
 */
const selectPaymentFacts = `select place, block_number, seen_number, seen_finalized, origin_number, origin_finalized,
		reserved_chain, token, amount, top_up, value_usd_cents, is_settled, was_signed,
		md5(row(block_number, block_hash, transaction_hash, is_filled, seen_number, seen_finalized, reserved_chain, token,
			amount, top_up, value_usd_cents, is_settled, was_signed)::text) as digest
	from (
		select job.place, opened.block_number, opened.block_hash, opened.transaction_hash,
			exists (select from chain_events filled
				where filled.order_id = job.order_id and filled.name = 'Filled') as is_filled,
			seen.head_number as seen_number, seen.finalized_number as seen_finalized,
			origin.number as origin_number, origin.finalized_number as origin_finalized,
			reserved.chain_id as reserved_chain, reserved.token, reserved.amount, reserved.top_up,
			swap.value_usd_cents, swap.status = 'settled' as is_settled,
			case when swap.status = 'settled' then exists (select from lane_transactions signed
				where signed.jobs @> jsonb_build_array(jsonb_build_object('swapId', job.swap_id, 'kind', 'fill')))
			else false end as was_signed
		from unnest($paidSwapIds::uuid[], $paidOrderIds::bytea[], $paidOriginChainIds::numeric[])
			with ordinality as job (swap_id, order_id, origin_chain_id, place)
		-- The ids stand here once more as a parameter: by it the planner leaves out the partitions of other days.
		left join swaps swap on swap.id = job.swap_id and swap.order_id = job.order_id
			and swap.id = any($paidSwapIds::uuid[])
		left join reservations reserved on reserved.swap_id = swap.id
		left join chain_heads origin on origin.chain_id = job.origin_chain_id
		left join lateral (
			select chain_id, order_id, block_number, block_hash, transaction_hash from chain_events
			where order_id = job.order_id and chain_id = job.origin_chain_id and name = 'Opened'
			order by block_number desc limit 1
		) opened on true
		left join cross_checks seen
			on (seen.order_id, seen.chain_id, seen.block_number, seen.block_hash, seen.transaction_hash)
			= (opened.order_id, opened.chain_id, opened.block_number, opened.block_hash, opened.transaction_hash)
	) facts`;

function paidJobColumns(jobs: readonly Job[]) {
	return {
		paidSwapIds: jobs.map(({ swapId }): SwapUuid => swapId),
		paidOrderIds: jobs.map(({ orderId }) => hexToBytes(orderId)),
		// Chain ids are passed as text, because forged terms may contain a number that is too large for a column.
		paidOriginChainIds: jobs.map(({ order }) => String(order.originChainId)),
	};
}

/**
 * A query with a row for each job whose facts no longer match its proof, or whose origin chain is behind where it was,
 * with the parameters that `proofColumns` returns.
 */
export const selectChangedFacts = `select from (${selectPaymentFacts}) facts
	join unnest($digests::text[], $originNumbers::bigint[], $originFinalizedNumbers::bigint[])
		with ordinality as proof (digest, number, finalized, place) using (place)
	where facts.digest <> proof.digest or coalesce(origin_number, 0) < proof.number
		or coalesce(origin_finalized, 0) < proof.finalized`;

export function proofColumns(proven: readonly { job: Job; proof: PaymentProof }[]) {
	return {
		...paidJobColumns(proven.map(({ job }) => job)),
		digests: proven.map(({ proof }) => proof.digest),
		originNumbers: proven.map(({ proof }) => proof.originNumber),
		originFinalizedNumbers: proven.map(({ proof }) => proof.originFinalized),
	};
}

/** Returns the facts about each of the jobs, in their order, from one statement. */
export async function readPaymentFacts(db: Database, jobs: readonly Job[]): Promise<PaymentFacts[]> {
	const { rows } = await db.query<Row>({
		name: "read-payment-facts",
		...namedParameters(
			`select block_number, seen_number, seen_finalized, origin_number, origin_finalized, reserved_chain,
				token, amount, top_up, value_usd_cents, is_settled, was_signed, digest
			from (${selectPaymentFacts}) facts order by place`,
			paidJobColumns(jobs),
		),
	});
	return rows.map(factsFromRow);
}

type Row = {
	block_number: number | null;
	seen_number: number | null;
	seen_finalized: number | null;
	origin_number: number | null;
	origin_finalized: number | null;
	reserved_chain: number | null;
	token: Buffer | null;
	amount: Amount | null;
	top_up: Amount | null;
	value_usd_cents: number | null;
	is_settled: boolean | null;
	was_signed: boolean;
	digest: string;
};

function factsFromRow(row: Row): PaymentFacts {
	const facts: PaymentFacts = {
		wasSigned: row.was_signed,
		proof: {
			digest: row.digest,
			originNumber: row.origin_number ?? 0,
			originFinalized: row.origin_finalized ?? 0,
		},
	};
	if (row.block_number !== null) facts.opened = { blockNumber: row.block_number };
	if (row.seen_number !== null && row.seen_finalized !== null) {
		facts.crossCheck = { headNumber: row.seen_number, finalizedNumber: row.seen_finalized };
	}
	if (row.origin_number !== null && row.origin_finalized !== null) {
		facts.origin = { number: row.origin_number, finalizedNumber: row.origin_finalized };
	}
	const { reserved_chain: chainId, token, amount, top_up: topUp } = row;
	if (chainId !== null && token !== null && amount !== null && topUp !== null) {
		facts.reserved = { chainId, token: bytesToHex(token), amount, topUp };
	}
	if (row.value_usd_cents !== null) {
		facts.swap = { valueUsdCents: BigInt(row.value_usd_cents), isSettled: row.is_settled === true };
	}
	return facts;
}
