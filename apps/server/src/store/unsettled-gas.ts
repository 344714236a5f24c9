import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

const dayMs = 86_400_000;

/**
 * Writes down what a swap cost that ended otherwise than settled: its share of each transaction, and what was given away
 * with an account that a refund had to make. Once.
 */
export async function recordUnsettledGas(
	db: Database,
	{ swapId, nowMs }: { swapId: SwapUuid; nowMs: number },
): Promise<void> {
	await db.query(
		`insert into unsettled_gas (swap_id, chain_id, account_id, at, wei)
		select s.id, c.chain_id, s.account_id, to_timestamp($2::double precision / 1000), sum(c.cost)
		from swaps s cross join lateral (
			select t.chain_id, ceil(t.gas_cost / jsonb_array_length(t.jobs)) as cost from lane_transactions t
			where t.jobs @> jsonb_build_array(jsonb_build_object('swapId', s.id)) and t.gas_cost is not null
			union all
			select e.chain_id, (e.data->>'lamports')::numeric from chain_events e
			where e.order_id = s.order_id and e.name = 'AccountMade'
		) c
		where s.id = $1 and s.status in ('failed', 'refunded') and s.account_id is not null
		group by s.id, c.chain_id, s.account_id
		on conflict do nothing`,
		[swapId, nowMs],
	);
}

/** What an account's swaps of the last day cost without being settled, by chain, and when that begins to be forgotten. */
export async function readUnsettledGas(
	db: Database,
	{ accountId, nowMs }: { accountId: string; nowMs: number },
): Promise<{ spent: { chainId: number; wei: bigint }[]; retryAfterSeconds: number }> {
	const { rows } = await db.query<{ chain_id: number; wei: bigint; first_at: Date }>({
		name: "read-unsettled-gas",
		text: `select chain_id, sum(wei) as wei, min(at) as first_at from unsettled_gas
			where account_id = $1 and at > $2 group by chain_id`,
		values: [accountId, new Date(nowMs - dayMs)],
	});
	const firstMs = Math.min(nowMs, ...rows.map((row) => row.first_at.getTime()));
	return {
		spent: rows.map(({ chain_id, wei }) => ({ chainId: chain_id, wei })),
		retryAfterSeconds: Math.ceil((firstMs + dayMs - nowMs) / 1_000),
	};
}
