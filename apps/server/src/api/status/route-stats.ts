import { firstSwapUuidAt, type Milliseconds, type StatsResponse } from "@geoswap/protocol";
import { isOfferedTo } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";

const dayMs = 86_400_000;
const days = 7;
/** The maximum number of settled swaps that are read, newest first, by the index of ended swaps. */
const maxSwaps = 20_000;
/**
 * The minimum number of swaps of a published route. With fewer, a percentile could be one caller's swap. With this
 * many, five swaps are beyond the last percentile.
 */
const minSwaps = 100;
const freshMs = 300_000;
/** The delay before the database is queried again after a failure. */
const retryMs = 10_000;

/** Percentiles of settled swaps by route, computed at most every five minutes. */
export type RouteStats = {
	read(): Promise<StatsResponse>;
	/**
	 * Returns the last figures immediately, and has new ones computed if they are old. Undefined before the first ones.
	 */
	known(): StatsResponse | undefined;
};

export function createRouteStats({
	db,
	config,
	nowMs,
}: {
	db: Database;
	config: Pick<Config, "chains">;
	nowMs: () => Milliseconds;
}): RouteStats {
	let last: { atMs: Milliseconds; stats: StatsResponse } | undefined;
	let failedAtMs = Number.NEGATIVE_INFINITY;
	let reading: Promise<StatsResponse> | undefined;
	// A chain that only some accounts are offered is not public, and neither is its traffic.
	const publicChains = new Set(
		config.chains.filter((chain) => isOfferedTo(undefined, chain)).map(({ chainId }) => chainId),
	);

	async function compute(): Promise<StatsResponse> {
		const atMs = nowMs();
		const { rows } = await db.query<StatsRow>(routeStatsQuery({ nowMs: atMs }));
		const stats: StatsResponse = {
			computedAt: new Date(atMs).toISOString(),
			days,
			minSwaps,
			routes: rows
				.filter(({ origin, destination }) => publicChains.has(origin) && publicChains.has(destination))
				.map(routeOf),
		};
		last = { atMs, stats };
		return stats;
	}

	function refresh(): Promise<StatsResponse> {
		reading ??= compute()
			.catch((error: unknown) => {
				failedAtMs = nowMs();
				throw error;
			})
			.finally(() => {
				reading = undefined;
			});
		return reading;
	}

	const fresh = () => (last && nowMs() - last.atMs < freshMs ? last.stats : undefined);
	return {
		read: async () => fresh() ?? (await refresh()),
		known() {
			// The page is served despite the error.
			if (!fresh() && nowMs() - failedAtMs >= retryMs) refresh().catch(() => {});
			return last?.stats;
		},
	};
}

type StatsRow = {
	origin: number;
	destination: number;
	swaps: number;
	seconds: number[];
	bps: number[];
};

/** Returns the query. Its lower bound for ids excludes the partitions of older days. */
export function routeStatsQuery({ nowMs }: { nowMs: Milliseconds }): { text: string; values: unknown[] } {
	return {
		text: `select origin, destination, count(*)::int as swaps,
				percentile_disc(array[0.5, 0.9, 0.95]) within group (order by seconds) as seconds,
				percentile_disc(array[0.5, 0.1, 0.05]) within group (order by bps) as bps
			from (
				select (order_terms->>'originChainId')::bigint as origin,
					(order_terms->>'destinationChainId')::bigint as destination,
					round(extract(epoch from decided_at - created_at), 1)::float8 as seconds,
					floor(delivered_amount * 10000 / output)::float8 as bps
				from swaps
				where id >= $1 and ended_at is not null and ended_at >= $2 and status = 'settled' and decided_at is not null
					and delivered_amount is not null and output > 0
				order by ended_at desc limit $3
			) as settled
			group by origin, destination having count(*) >= $4
			order by origin, destination`,
		values: [
			// A swap that was quoted earlier may have ended within the days.
			firstSwapUuidAt(nowMs - (days + 1) * dayMs),
			new Date(nowMs - days * dayMs),
			maxSwaps,
			minSwaps,
		],
	};
}

function routeOf({ origin, destination, swaps, seconds, bps }: StatsRow): StatsResponse["routes"][number] {
	const percentiles = ([p50 = 0, p90 = 0, p95 = 0]: number[]) => ({ p50, p90, p95 });
	return {
		originChain: origin,
		destinationChain: destination,
		swaps: swaps - (swaps % 100),
		secondsToSettled: percentiles(seconds),
		deliveredBps: percentiles(bps),
	};
}
