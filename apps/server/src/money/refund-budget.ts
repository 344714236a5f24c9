import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";

const daySeconds = 86_400;

/**
 * Takes the cost of a refund from its chain's budget. Returns false and takes nothing if too little is left.
 *
 * The budget is a bucket that holds a day's amount and fills evenly. So after any number of refunds the next one waits
 * for minutes and not for the next day, and in n days at most n + 1 days' amounts are spent. A full bucket also pays for
 * a single refund that costs more than a day's amount.
 */
export async function takeRefundBudget(
	db: Database,
	{
		chainId,
		costMicroUsd,
		perDayMicroUsd,
		nowMs,
	}: { chainId: number; costMicroUsd: bigint; perDayMicroUsd: bigint; nowMs: Milliseconds },
): Promise<boolean> {
	const used = `greatest(0, b.used_micro_usd
		- floor(greatest(0, extract(epoch from excluded.at - b.at)) * $3::numeric / ${daySeconds}))::bigint`;
	const { rowCount } = await db.query(
		`insert into refund_budgets as b (chain_id, used_micro_usd, at)
		select $1, $2::bigint, to_timestamp($4::double precision / 1000) where $3::numeric > 0
		on conflict (chain_id) do update set used_micro_usd = ${used} + $2, at = greatest(b.at, excluded.at)
		where ${used} = 0 or ${used} + $2 <= $3`,
		[chainId, costMicroUsd, perDayMicroUsd, nowMs],
	);
	return rowCount === 1;
}
