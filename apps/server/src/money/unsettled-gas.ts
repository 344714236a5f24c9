import {
	type Milliseconds,
	type Seconds,
	type SwapUuid,
	solanaChainId,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
	type UsdCents,
	type Wei,
} from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database, Part } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import { recentSwapIds } from "../swap/record/read-swap.ts";

/** Gas that a transaction needs to open orders, besides what each order may use. */
export const openingGas = {
	perBundle: 100_000n,
	/** The data of one order, the call with which the escrow opens it, and the event if that fails. */
	perOrder: 40_000n,
	/** A call passes on at most 63/64 of the remaining gas, so a limit is raised by this factor to arrive in full. */
	limitFactor: { times: 64n, over: 63n },
};

const dayMs = 86_400_000;
/** Divisor for a rent. It comes back later, but until then its payer lacks it. */
const rentShare = 10n;
/** Divisor for the cost of a refund, because few of the swaps without any sign of a refund are refunded. */
const undecidedShare = 10n;
/** Cost of a refund: the wallet's new account, which it can close for its rent, and more than the fees. */
const refundLamports = tokenAccountRentLamports + 100_000n;
/** Seconds after which most undecided swaps are decided. */
const decidedSeconds = 60;
const { perBundle, perOrder, limitFactor } = openingGas;
/** Gas to close an order on its destination, and to refund its input, each with some room. */
const voidGas = 60_000;
const refundGas = 70_000;

/** SQL for whether transaction `t` was to open the order of swap `s` and did not. */
const isWasted = `t.kind = 'open' and s.stage = 'opening' and not exists (
	select from chain_events e where e.order_id = s.order_id and e.chain_id = t.chain_id
		and e.name = 'Opened' and e.transaction_hash = t.hash
)`;

/**
 * SQL for all that swap `s` has cost so far, by chain: its share of each transaction, what was given away with an
 * account that a refund had to create, and a share of the rents of its order. A transaction that did not open the
 * swap's order counts in full, because the wallet's code may have used up most of its gas, which the other swaps in it
 * must not pay.
 */
const costs = `(
	select t.chain_id, case when ${isWasted} then t.gas_cost
		else ceil(t.gas_cost / jsonb_array_length(t.jobs)) end as cost
	from lane_transactions t
	where t.jobs @> jsonb_build_array(jsonb_build_object('swapId', s.id)) and t.gas_cost is not null
	union all
	select e.chain_id, (e.data->>'lamports')::numeric from chain_events e
	where e.order_id = s.order_id and e.name = 'AccountMade'
	union all
	select e.chain_id, ceil((e.data->>'lamports')::numeric / ${rentShare}) from chain_events e
	where e.order_id = s.order_id and e.name = 'RentPaid'
)`;

/** Records once what swaps cost that ended without being settled. */
export async function recordUnsettledGas(
	db: Database,
	{ swapIds, nowMs }: { swapIds: readonly SwapUuid[]; nowMs: Milliseconds },
): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query(
		`insert into unsettled_gas (swap_id, chain_id, account_id, at, wei)
		select s.id, c.chain_id, s.account_id, to_timestamp($2::double precision / 1000), sum(c.cost)
		from swaps s cross join lateral ${costs} c
		where s.id = any($1::uuid[]) and s.status in ('failed', 'refunded') and s.account_id is not null
		group by s.id, c.chain_id, s.account_id
		on conflict do nothing`,
		[swapIds, nowMs],
	);
}

/** The cost of swaps, by chain in its smallest unit of fees, and when less of it will count. */
type Spent = { spent: { chainId: number; wei: Wei }[]; retryAfterSeconds: Seconds };

export type UnsettledGas = {
	/** Swaps of the last day that ended without being settled. */
	ended: Spent;
	/** Swaps that have not ended, and are not settled. */
	undecided: Spent & {
		/** The maximum units of gas that their transactions may still use on EVM chains. */
		inFlight: { chainId: number; gas: bigint }[];
	};
};

/**
 * Reads what an account's swaps of the last day cost without being settled, and what those not ended yet may cost.
 *
 * A swap from an EVM chain counts with what it has cost so far, with the whole limit of its op until its order is open,
 * and with a void and a refund. A swap from Solana counts as a refund at worst, or as a share of that while nothing
 * shows that it will be refunded. Only token inputs count, since their refund may have to create an account, which is
 * as good as cash.
 */
export async function readUnsettledGas(
	db: Database,
	{ accountId, nowMs }: { accountId: string; nowMs: Milliseconds },
): Promise<UnsettledGas> {
	const { rows } = await db.query<GasRow>({
		name: "read-unsettled-gas",
		...gasRows({ accountId, nowMs }),
	});
	return gasFromRows(rows, { nowMs });
}

const gasText = `with undecided as materialized (
		select id, order_id, stage, giving_up, value_usd_cents, (op->>'gas')::numeric as op_gas, order_terms->>'inputToken' as input_token,
			(order_terms->>'originChainId')::numeric as origin,
			(order_terms->>'destinationChainId')::numeric as destination
		from swaps where account_id = $accountId and ended_at is null and status <> 'settled'
			and id between $firstSwapId and $lastSwapId
	), at_risk as materialized (
		select value_usd_cents, value_usd_cents <= $unfinalUpToUsdCents::bigint as is_unfinal from undecided
		where origin = $originChainId::numeric and destination <> $originChainId
			and stage in ('opening', 'deposited') and giving_up is null
		union all
		select value_usd_cents, not is_final from exposures
		where account_id = $accountId and origin_chain_id = $originChainId::bigint and attester_set = $attesterSet::bytea
	)
	select 'ended' as kind, chain_id as "chainId", sum(wei)::text as amount,
		floor(extract(epoch from min(at)) * 1000)::float8 as "firstAtMs"
	from unsettled_gas
	where account_id = $accountId and at > $since group by chain_id
	union all
	select 'spent', $solanaChainId::bigint,
		sum(case when giving_up is null then $undecidedRefundLamports::numeric else $refundLamports end)::text, null
	from undecided where origin = $solanaChainId and input_token <> $solanaNativeToken having count(*) > 0
	union all
	select 'spent', c.chain_id, sum(c.cost)::text, null from undecided s cross join lateral ${costs} c
	where s.origin <> $solanaChainId group by c.chain_id
	union all
	select 'gas', origin::bigint, sum(${refundGas} + case when stage = 'opening' and op_gas is not null then
		ceil(op_gas * ${limitFactor.times} / ${limitFactor.over}) + ${perBundle + perOrder} else 0 end)::text, null
	from undecided where origin <> $solanaChainId group by origin
	union all
	select 'gas', destination::bigint, sum(${voidGas})::text, null
	from undecided where origin <> $solanaChainId and destination not in (origin, $solanaChainId) group by destination
	union all
	select 'unreleased', $originChainId::bigint, sum(value_usd_cents)::text, null from at_risk having count(*) > 0
	union all
	select 'unfinal', $originChainId::bigint, sum(value_usd_cents)::text, null from at_risk
	where is_unfinal having count(*) > 0`;

/** The swaps whose value counts as at risk besides a new one, in the same statement as their gas. */
type RiskOf = {
	originChainId: number;
	attesterSet: Hex;
	/** The value up to which a deposit need not be final for its delivery. */
	unfinalUpToUsdCents: UsdCents;
};

/** Returns the query whose rows `gasFromRows` reads. */
export function gasRows({
	accountId,
	nowMs,
	risk,
}: {
	accountId: string;
	nowMs: Milliseconds;
	risk?: RiskOf | undefined;
}): Part {
	const [firstSwapId, lastSwapId] = recentSwapIds(nowMs);
	return namedParameters(gasText, {
		accountId,
		since: new Date(nowMs - dayMs),
		solanaChainId,
		undecidedRefundLamports: refundLamports / undecidedShare,
		refundLamports,
		solanaNativeToken: toSolanaWord(solanaNativeToken),
		firstSwapId,
		lastSwapId,
		originChainId: risk?.originChainId ?? null,
		unfinalUpToUsdCents: risk?.unfinalUpToUsdCents ?? null,
		attesterSet: risk ? Buffer.from(hexToBytes(risk.attesterSet)) : null,
	});
}

export function gasFromRows(rows: readonly GasRow[], { nowMs }: { nowMs: Milliseconds }): UnsettledGas {
	const ofKind = (kind: GasRow["kind"]) => rows.filter((row) => row.kind === kind);
	const spent = (some: readonly GasRow[]) =>
		some.map(({ chainId, amount }) => ({ chainId, wei: BigInt(amount) }));
	const ended = ofKind("ended");
	const firstMs = Math.min(nowMs, ...ended.map((row) => row.firstAtMs ?? nowMs));
	return {
		ended: { spent: spent(ended), retryAfterSeconds: Math.ceil((firstMs + dayMs - nowMs) / 1_000) },
		undecided: {
			spent: spent(ofKind("spent")),
			inFlight: ofKind("gas").map(({ chainId, amount }) => ({ chainId, gas: BigInt(amount) })),
			retryAfterSeconds: decidedSeconds,
		},
	};
}

/** The value of an account's swaps that counts for a chain's caps, or will once they are delivered. */
export type AccountAtRisk = { unreleasedUsdCents: UsdCents; unfinalUsdCents: UsdCents };

export function atRiskFromRows(rows: readonly GasRow[]): AccountAtRisk {
	const sumOf = (kind: GasRow["kind"]) => BigInt(rows.find((row) => row.kind === kind)?.amount ?? 0);
	return { unreleasedUsdCents: sumOf("unreleased"), unfinalUsdCents: sumOf("unfinal") };
}

export type GasRow = {
	kind: "ended" | "spent" | "gas" | "unreleased" | "unfinal";
	chainId: number;
	amount: string;
	firstAtMs: Milliseconds | null;
};
