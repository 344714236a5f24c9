import { firstSwapUuidAt, type Milliseconds, type Seconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

/** Swaps that were submitted in a period. */
export type Traffic = {
	/** The period's beginning. Null for the whole time. */
	at: Date | null;
	submitted: number;
	settled: number;
	refunded: number;
	failed: number;
	settledUsdCents: number;
	/** From submit to the status settled. Null if no swap is. */
	p50Seconds: Seconds | null;
	p95Seconds: Seconds | null;
};

const dayMs = 86_400_000;

/**
 * Reads the swaps of the last 24 hours, by half hours and together (`at` is null). The last visible change of a
 * settled swap is its settlement.
 */
export async function readTraffic(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<Traffic[]> {
	const { rows } = await db.query<Traffic>(
		`select date_bin('30 minutes', created_at, timestamptz 'epoch') as at,
			count(*) as submitted,
			count(*) filter (where status = 'settled') as settled,
			count(*) filter (where status = 'refunded') as refunded,
			count(*) filter (where status = 'failed') as failed,
			coalesce(sum(value_usd_cents) filter (where status = 'settled'), 0)::float8 as "settledUsdCents",
			percentile_cont(0.5) within group (order by extract(epoch from updated_at - created_at)::float8)
				filter (where status = 'settled') as "p50Seconds",
			percentile_cont(0.95) within group (order by extract(epoch from updated_at - created_at)::float8)
				filter (where status = 'settled') as "p95Seconds"
		from swaps where id >= $1 and id < $2 group by grouping sets ((1), ()) order by 1`,
		[firstSwapUuidAt(Math.max(0, nowMs - dayMs)), firstSwapUuidAt(nowMs + dayMs)],
	);
	return rows;
}

/** Counts the swaps that were submitted in the last minutes. */
export async function countRecent(
	db: Database,
	{ minutes, nowMs }: { minutes: number; nowMs: Milliseconds },
): Promise<number> {
	const { rows } = await db.query<{ count: number }>(
		"select count(*) as count from swaps where id >= $1 and id < $2",
		[firstSwapUuidAt(nowMs - minutes * 60_000), firstSwapUuidAt(nowMs + dayMs)],
	);
	return rows[0]?.count ?? 0;
}
