import type { Database } from "../../database/database.ts";
import type { JobKey } from "../../job/jobs.ts";

/** Returns, for each of the jobs, how many transactions that were signed for it ended in no block. */
export async function countLostAttempts(
	db: Database,
	{ chainId, jobs }: { chainId: number; jobs: readonly JobKey[] },
): Promise<number[]> {
	const { rows } = await db.query<{ lost: number }>(
		`select (
			select count(*)::int from lane_transactions
			where chain_id = $1 and state = 'final' and block_number is null
				and jobs @> jsonb_build_array(jsonb_build_object('swapId', j.swap_id, 'kind', j.kind))
		) as lost
		from unnest($2::uuid[], $3::text[]) with ordinality as j (swap_id, kind, seq) order by seq`,
		[chainId, jobs.map(({ swapId }) => swapId), jobs.map(({ kind }) => kind)],
	);
	return rows.map(({ lost }) => lost);
}
