import { firstSwapUuidAt, type Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";

/** Sums since midnight, UTC. */
export type Today = {
	/** The quoted fees of swaps that were settled. */
	feeUsdCents: number;
	refunded: number;
	/** Gas that was booked, in the chain's smallest unit. */
	gas: { chainId: number; wei: bigint }[];
};

/** Sums of the ledger's entries since a moment: debits above zero, credits below. */
export type LedgerSum = { account: string; chainId: number; token: Hex; debit: bigint; credit: bigint };

const dayMs = 86_400_000;

export function midnightMs(nowMs: Milliseconds): Milliseconds {
	return nowMs - (nowMs % dayMs);
}

/** Reads what was earned and spent today. A swap that was submitted before midnight can settle after it. */
export async function readToday(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<Today> {
	const sinceMs = midnightMs(nowMs);
	const { rows } = await db.query<{ feeUsdCents: number; refunded: number }>(
		`select coalesce(sum(value_usd_cents::float8 * coalesce(fee_millibps, 10 * fee_centibps) / 10000000)
				filter (where status = 'settled'), 0) as "feeUsdCents",
			count(*) filter (where status = 'refunded') as refunded
		from swaps where id >= $1 and id < $2 and updated_at >= to_timestamp($3::double precision / 1000)
			and status <> 'pending'`,
		[firstSwapUuidAt(sinceMs - dayMs), firstSwapUuidAt(nowMs + dayMs), sinceMs],
	);
	const { rows: gas } = await db.query<Today["gas"][number]>(
		`select e.chain_id as "chainId", sum(e.amount) as wei from postings p join entries e on e.posting_id = p.id
		where p.at >= to_timestamp($1::double precision / 1000) and p.name = 'gas' and e.account = 'gas'
		group by 1 order by 1`,
		[sinceMs],
	);
	return { feeUsdCents: rows[0]?.feeUsdCents ?? 0, refunded: rows[0]?.refunded ?? 0, gas };
}

/** Adds up the ledger's entries since a moment, by account and token. */
export async function readLedgerSums(
	db: Database,
	{ sinceMs }: { sinceMs: Milliseconds },
): Promise<LedgerSum[]> {
	const { rows } = await db.query<LedgerSum>(
		`select e.account, e.chain_id as "chainId", '0x' || encode(e.token, 'hex') as token,
			coalesce(sum(e.amount) filter (where e.amount > 0), 0) as debit,
			coalesce(-sum(e.amount) filter (where e.amount < 0), 0) as credit
		from postings p join entries e on e.posting_id = p.id
		where p.at >= to_timestamp($1::double precision / 1000)
		group by 1, 2, 3 order by 2, 1, 3`,
		[sinceMs],
	);
	return rows;
}
