import type { Amount, Milliseconds, Seconds, UsdCents, Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../database/database.ts";
import type { JobKind } from "../swap/facts/job.ts";

/** The figures that an operator needs first, from the database. */
export type Vitals = {
	inventory: { chainId: number; token: Hex; balance: bigint; outflowAvailable: Amount; reserved: Amount }[];
	/** Value delivered, or about to be, against inputs from a chain that the service does not own yet. */
	exposure: { chainId: number; unreleasedUsdCents: UsdCents; unfinalUsdCents: UsdCents }[];
	heads: {
		chainId: number;
		updatedSecondsAgo: number;
		blockSecondsAgo: number;
		finalSecondsAgo: number;
		unfinalBlocks: number;
		finalNumber: number;
		/** The oldest block whose events are not all known. 0 if there is none. */
		unreadNumber: number;
		baseFee: Wei;
	}[];
	heartbeats: { attester: Hex; chainId: number; secondsAgo: number; finalNumber: number }[];
	jobs: { chainId: number; kind: JobKind; state: string; count: number; oldestSeconds: Seconds }[];
	/** Transactions that are signed, but not in a final block yet. */
	transactions: { chainId: number; count: number; oldestSeconds: Seconds }[];
	/** Seconds for which the longest-due swap has been due, by the database's clock. */
	overdueSeconds: Seconds;
	/** Deliveries that were booked as lost, ever. */
	losses: { chainId: number; token: Hex; amount: Amount }[];
	/** Moves of the treasury, by the chain whose vault makes them. Chains without any are missing. */
	moves: {
		chainId: number;
		stuck: number;
		/** Seconds since the move that is open and has been late longest became late. 0 if none is late. */
		lateSeconds: Seconds;
		/** Moves that failed in the last hour, or that no lane signed in time. */
		failed: number;
	}[];
	/** Gas of the last day, in the chain's smallest unit. */
	unsettledGas: { chainId: number; wei: Wei }[];
};

/** Reads all figures in a few separate queries, so that nothing is locked from one to the next. */
export async function readVitals(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<Vitals> {
	const { rows: inventory } = await db.query<Vitals["inventory"][number]>(
		`select chain_id as "chainId", '0x' || encode(token, 'hex') as token, balance,
			outflow_available as "outflowAvailable", reserved from inventory`,
	);
	const { rows: exposure } = await db.query<Vitals["exposure"][number]>(
		`select origin_chain_id as "chainId", sum(value_usd_cents) as "unreleasedUsdCents",
			coalesce(sum(value_usd_cents) filter (where not is_final), 0) as "unfinalUsdCents"
		from exposures group by 1`,
	);
	const { rows: heads } = await db.query<Vitals["heads"][number]>(
		`select chain_id as "chainId", ${secondsSince("updated_at")} as "updatedSecondsAgo",
			$1::float8 / 1000 - timestamp as "blockSecondsAgo", number - finalized_number as "unfinalBlocks",
			$1::float8 / 1000 - finalized_timestamp as "finalSecondsAgo", finalized_number as "finalNumber",
			coalesce(
				(select min(u.number) from unread_blocks u where u.chain_id = chain_heads.chain_id and not u.is_partial),
				case when unseen_orders = '{}' then 0 else compared_number end
			) as "unreadNumber", base_fee as "baseFee"
		from chain_heads`,
		[nowMs],
	);
	const { rows: heartbeats } = await db.query<Vitals["heartbeats"][number]>(
		`select '0x' || encode(attester, 'hex') as attester, chain_id as "chainId",
			${secondsSince("signed_at")} as "secondsAgo", finalized_number as "finalNumber"
		from heartbeats`,
		[nowMs],
	);
	const { rows: jobs } = await db.query<Vitals["jobs"][number]>(
		`select chain_id as "chainId", kind, state, count(*) as count,
			${secondsSince("min(updated_at)")} as "oldestSeconds"
		from jobs where state in ('unattested', 'queued', 'sent') group by 1, 2, 3`,
		[nowMs],
	);
	const { rows: transactions } = await db.query<Vitals["transactions"][number]>(
		`select chain_id as "chainId", count(*) as count, ${secondsSince("min(created_at)")} as "oldestSeconds"
		from lane_transactions where state <> 'final' group by 1`,
		[nowMs],
	);
	const { rows: overdue } = await db.query<{ seconds: number }>(
		`select greatest(0, extract(epoch from now() - min(due_at)))::float8 as seconds from waits`,
	);
	const { rows: losses } = await db.query<Vitals["losses"][number]>(
		`select chain_id as "chainId", '0x' || encode(token, 'hex') as token, sum(amount) as amount
		from entries where account = 'loss' group by 1, 2`,
	);
	const { rows: unsettledGas } = await db.query<Vitals["unsettledGas"][number]>(
		`select chain_id as "chainId", sum(wei) as wei from unsettled_gas
		where at > to_timestamp($1::float8 / 1000) - interval '1 day' group by 1`,
		[nowMs],
	);
	const { rows: moves } = await db.query<Vitals["moves"][number]>(
		`select chain_id as "chainId", count(*) filter (where state = 'stuck') as stuck,
			greatest(0, ${secondsSince("min(due_at) filter (where state not in ('final', 'failed', 'cancelled', 'lost'))")}) as "lateSeconds",
			count(*) filter (where state in ('failed', 'cancelled') and problem is not null
				and updated_at > to_timestamp($1::float8 / 1000) - interval '1 hour') as failed
		from treasury_moves where move_id is not null group by 1`,
		[nowMs],
	);
	const overdueSeconds = overdue[0]?.seconds ?? 0;
	return {
		inventory,
		exposure,
		heads,
		heartbeats,
		jobs,
		transactions,
		overdueSeconds,
		losses,
		moves,
		unsettledGas,
	};
}

function secondsSince(time: string): string {
	return `extract(epoch from to_timestamp($1::float8 / 1000) - ${time})::float8`;
}
