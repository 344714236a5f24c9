import { firstSwapUuidAt, type Milliseconds, type Seconds } from "@geoswap/protocol";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Database } from "../../database/database.ts";
import { type Pause, readPauses } from "../../swap/pause/pauses.ts";
import { chainPaces } from "../../swap/record/stuck-swaps.ts";
import { createUnendedCounts, type UnendedCount } from "../../watch/count-unended.ts";
import { readVitals, type Vitals } from "../../watch/read-vitals.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { cacheFor } from "./cache-for.ts";
import { findProblems, type Problem } from "./find-problems.ts";
import { readToday, type Today } from "./read-today.ts";
import type { WorkerMetrics } from "./worker-metrics.ts";

export type Overview = {
	problems: Problem[];
	pauses: Pause[];
	unended: UnendedCount[];
	vitals: Vitals;
	metrics: WorkerMetrics;
	today: Today;
	traffic: Traffic[];
	/** Swaps that were submitted in the last five minutes. */
	recent: number;
};

/** Figures over a whole day cost more than the others, and change little in this time. */
const dayMaxAgeMs = 15_000;
/** Several operators, or tabs, share one reading. */
const maxAgeMs = 1_000;

/** Returns a function that reads the service's state for its first page. */
export function createOverview(
	{ pool, config, readMetrics, nowMs }: Pick<ConsoleParts, "pool" | "config" | "readMetrics" | "nowMs">,
	chainNames: ChainNames,
): () => Promise<Overview> {
	const unendedCounts = createUnendedCounts({ db: pool, paces: chainPaces(config) });
	const readDay = cacheFor(
		async () => ({
			traffic: await readTraffic(pool, { nowMs: nowMs() }),
			today: await readToday(pool, { nowMs: nowMs() }),
		}),
		{ maxAgeMs: dayMaxAgeMs, nowMs },
	);
	return cacheFor(
		async () => {
			const at = nowMs();
			const [pauses, unended, vitals, metrics, { traffic, today }, recent] = await Promise.all([
				readPauses(pool),
				unendedCounts.read({ nowMs: at }),
				readVitals(pool, { nowMs: at }),
				readMetrics(),
				readDay(),
				countRecent(pool, { minutes: 5, nowMs: at }),
			]);
			const problems = findProblems({
				config,
				chainNames,
				pauses,
				unended,
				vitals,
				metrics,
				today,
				nowMs: at,
			});
			return { problems, pauses, unended, vitals, metrics, today, traffic, recent };
		},
		{ maxAgeMs, nowMs },
	);
}

/** Swaps that were submitted in a period. */
export type Traffic = {
	/** The period's beginning. Null for the whole time. */
	at: Date | null;
	submitted: number;
	settled: number;
	refunded: number;
	failed: number;
	settledUsdCents: number;
	/** Median time from submit to settled. Null if no swap is settled. */
	p50Seconds: Seconds | null;
	p95Seconds: Seconds | null;
};

const dayMs = 86_400_000;

/**
 * Reads the swaps of the last 24 hours, by half hours and together (`at` is null). The last visible change of a
 * settled swap is its settlement.
 */
async function readTraffic(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<Traffic[]> {
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
async function countRecent(
	db: Database,
	{ minutes, nowMs }: { minutes: number; nowMs: Milliseconds },
): Promise<number> {
	const { rows } = await db.query<{ count: number }>(
		"select count(*) as count from swaps where id >= $1 and id < $2",
		[firstSwapUuidAt(nowMs - minutes * 60_000), firstSwapUuidAt(nowMs + dayMs)],
	);
	return rows[0]?.count ?? 0;
}
