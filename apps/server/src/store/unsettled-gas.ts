import {
	firstSwapUuidAt,
	type SwapUuid,
	solanaChainId,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Database } from "./database.ts";

const dayMs = 86_400_000;
/** What is in a marker comes back after a month. Until then it is missing where fees are paid from. */
const markerShare = 10n;
/** Of swaps that nothing speaks against, few are refunded. */
const undecidedShare = 10n;
/** The wallet's new account, which it can close for what is in it, the marker, and more than the transactions' fees. */
const refundLamports = tokenAccountRentLamports + tokenAccountRentLamports / markerShare + 100_000n;
/** About when most of what is not decided is. */
const decidedSeconds = 60;

/**
 * Writes down what a swap cost that ended otherwise than settled: its share of each transaction, what was given away
 * with an account that a refund had to make, and a share of what its markers hold. Once.
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
			union all
			select e.chain_id, ceil((e.data->>'lamports')::numeric / $3) from chain_events e
			where e.order_id = s.order_id and e.name = 'MarkerMade'
		) c
		where s.id = $1 and s.status in ('failed', 'refunded') and s.account_id is not null
		group by s.id, c.chain_id, s.account_id
		on conflict do nothing`,
		[swapId, nowMs, markerShare],
	);
}

/** What swaps cost, by chain, and when less of it will count. */
export type UnsettledGas = { spent: { chainId: number; wei: bigint }[]; retryAfterSeconds: number };

/**
 * What an account's swaps of the last day cost without being settled, and when that begins to be forgotten; and what
 * those cost that have not ended, as if they were refunded at the worst, or a share of it while nothing says that they
 * are. Only inputs of tokens on Solana: there a refund may have to make an account, which is as good as cash.
 */
export async function readUnsettledGas(
	db: Database,
	{ accountId, nowMs }: { accountId: string; nowMs: number },
): Promise<{ ended: UnsettledGas; undecided: UnsettledGas }> {
	const { rows } = await db.query<{ chain_id: number; wei: bigint; first_at: Date | null }>({
		name: "read-unsettled-gas",
		text: `select chain_id, sum(wei) as wei, min(at) as first_at from unsettled_gas
			where account_id = $1 and at > $2 group by chain_id
			union all
			select $3::bigint, sum(case when giving_up is null then $4::numeric else $5 end), null from swaps
			where account_id = $1 and ended_at is null and order_terms->>'originChainId' = $6 and id >= $7
				and status <> 'settled' and order_terms->>'inputToken' <> $8
			having count(*) > 0`,
		values: [
			accountId,
			new Date(nowMs - dayMs),
			solanaChainId,
			refundLamports / undecidedShare,
			refundLamports,
			String(solanaChainId),
			firstSwapUuidAt(nowMs - dayMs),
			toSolanaWord(solanaNativeToken),
		],
	});
	const gasOf = (some: typeof rows) => some.map(({ chain_id, wei }) => ({ chainId: chain_id, wei }));
	const ended = rows.filter((row) => row.first_at !== null);
	const firstMs = Math.min(nowMs, ...ended.map((row) => row.first_at?.getTime() ?? nowMs));
	return {
		ended: { spent: gasOf(ended), retryAfterSeconds: Math.ceil((firstMs + dayMs - nowMs) / 1_000) },
		undecided: {
			spent: gasOf(rows.filter((row) => row.first_at === null)),
			retryAfterSeconds: decidedSeconds,
		},
	};
}
