import { firstSwapUuidAt, type Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import {
	type ChainPace,
	isStuckSql,
	paceSql,
	paceValues,
	swapsWithPaceSql,
} from "../swap/record/stuck-swaps.ts";

/**
 * Swaps that have not ended, by stage. `unreleased` means that the caller has a final status, but the input is not
 * finally released or refunded.
 */
export type UnendedCount = {
	stage: string;
	origin: string;
	destination: string;
	count: number;
	stuck: number;
};

/** Age by which nearly all swaps have ended. */
const recentMs = 2 * 86_400_000;
const olderEveryMs = 600_000;

/**
 * Counts the swaps that have not ended. They can be of any age, since a stuck swap stays so until an operator acts.
 * But a query over all of them locks each day's partition with its indices, which takes thousands of the locks that
 * all connections share. So only the newest are counted each time, and the older ones now and then.
 */
export function createUnendedCounts({ db, paces }: { db: Database; paces: readonly ChainPace[] }): {
	read: (options: { nowMs: Milliseconds }) => Promise<UnendedCount[]>;
} {
	let older: { counts: UnendedCount[]; beforeMs: Milliseconds; readAtMs: Milliseconds } | undefined;
	return {
		read: async ({ nowMs }) => {
			if (!older || nowMs - older.readAtMs >= olderEveryMs) {
				const beforeMs = nowMs - recentMs;
				const counts = await countUnended(db, { paces, nowMs, beforeMs });
				older = { counts, beforeMs, readAtMs: nowMs };
			}
			const recent = await countUnended(db, { paces, nowMs, fromMs: older.beforeMs });
			return summed([...recent, ...older.counts]);
		},
	};
}

/** Merges counts with the same labels, because readers of metrics drop duplicate series. */
function summed(counts: readonly UnendedCount[]): UnendedCount[] {
	const sums = new Map<string, UnendedCount>();
	for (const one of counts) {
		const key = [one.stage, one.origin, one.destination].join(" ");
		const { count, stuck } = sums.get(key) ?? { count: 0, stuck: 0 };
		sums.set(key, { ...one, count: count + one.count, stuck: stuck + one.stuck });
	}
	return [...sums.values()];
}

/** Counts swaps that were quoted at or after a moment, or before one. */
async function countUnended(
	db: Database,
	{
		paces,
		nowMs,
		...range
	}: { paces: readonly ChainPace[]; nowMs: Milliseconds } & (
		| { fromMs: Milliseconds }
		| { beforeMs: Milliseconds }
	),
): Promise<UnendedCount[]> {
	const edgeMs = "fromMs" in range ? range.fromMs : range.beforeMs;
	// Not a named statement, because a cached plan for any range would be one over all partitions.
	const { rows } = await db.query<UnendedCount>(
		namedParameters(
			`${paceSql}
			select case when s.status = 'pending' then s.stage else 'unreleased' end as stage,
				s.order_terms->>'originChainId' as origin, s.order_terms->>'destinationChainId' as destination,
				count(*) as count,
				count(*) filter (where ${isStuckSql}) as stuck
			from ${swapsWithPaceSql}
			where s.ended_at is null and s.id ${"fromMs" in range ? ">=" : "<"} $edgeId
			group by 1, 2, 3`,
			{ ...paceValues(paces, nowMs), edgeId: firstSwapUuidAt(edgeMs) },
		),
	);
	return rows;
}
