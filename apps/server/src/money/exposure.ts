import { type Order, type SwapUuid, toChainId, type UsdCents } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import type { Row } from "../database/rows.ts";
import type { ExposureCaps } from "../swap/facts/exposure-caps.ts";

/**
 * Marks the deposits of the blocks after one and up to another as final: they can no longer be dropped. Only looks at
 * what became final now, however much is at risk: a value put at risk by a round that has not seen that yet is left to
 * the next round of its swap.
 */
export async function markDepositsFinal(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	if (upTo <= after) return;
	await db.query(
		`with held as materialized (
			select x.swap_id from exposures x where x.origin_chain_id = $1 and not x.is_final and x.order_id = any(array(
				select e.order_id from chain_events e
				where e.chain_id = $1 and e.block_number > $2 and e.block_number <= $3 and e.name = 'Opened'
			)) order by x.swap_id for update
		)
		update exposures x set is_final = true from held where x.swap_id = held.swap_id`,
		[chainId, after, upTo],
	);
}

/**
 * Marks the deposits of these swaps as final. They were not when the value was put at risk, or the round that did it
 * saw the chain as it was before. Skips a locked row: it is being dropped, or marked by a follower.
 */
export async function markExposuresFinal(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id from exposures where swap_id = any($1::uuid[]) and not is_final
			order by swap_id for update skip locked
		)
		update exposures x set is_final = true from held where x.swap_id = held.swap_id`,
		[swapIds],
	);
}

/** The value at risk for inputs from one chain. */
export type AtRisk = {
	/** The value for each attester set. */
	unreleased: Map<Hex, bigint>;
	unfinal: bigint;
};

/**
 * Reads what is at risk for inputs from `originIds`, and which of `chainIds` are paused because they dropped final
 * blocks. Until the transaction ends nobody else can put anything at risk for these origins: two fills that each see
 * room for themselves would together be too much.
 */
export async function lockExposures(
	db: Database,
	{ originIds, chainIds }: { originIds: readonly number[]; chainIds: readonly number[] },
): Promise<{ atRisk: Map<number, AtRisk>; broken: Set<number> }> {
	if (originIds.length + chainIds.length === 0) return { atRisk: new Map(), broken: new Set() };
	// The lock comes before any read, in its own statement: a statement does not see what is committed while it waits.
	if (originIds.length > 0) {
		await db.query({
			name: "lock-exposures",
			text: `select count(pg_advisory_xact_lock(hashtextextended('exposure:' || id, 0)))
				from (select id from unnest($1::text[]) as id order by id) as origin`,
			values: [originIds.map(String)],
		});
	}
	const { rows } = await db.query<SumRow>({
		name: "sum-exposures",
		text: `select array(select chain_id from pauses
				where chain_id = any($2::bigint[]) and cause = 'finality' and lifted_at is null) as broken,
				origin_chain_id, attester_set, unreleased, unfinal
			from (select) always left join (
				select origin_chain_id, attester_set, sum(value_usd_cents) as unreleased,
					coalesce(sum(value_usd_cents) filter (where not is_final), 0) as unfinal
				from exposures where origin_chain_id = any($1::bigint[]) group by origin_chain_id, attester_set
			) sums on true`,
		values: [originIds, chainIds],
	});
	const atRisk = new Map(originIds.map((id) => [id, { unreleased: new Map<Hex, bigint>(), unfinal: 0n }]));
	for (const row of rows) {
		if (row.origin_chain_id === null) continue;
		const sum = atRisk.get(row.origin_chain_id);
		if (!sum) continue;
		sum.unreleased.set(bytesToHex(row.attester_set), row.unreleased);
		sum.unfinal += row.unfinal;
	}
	return { atRisk, broken: new Set(rows[0]?.broken.map(Number)) };
}

type Sum = Row<"exposures", "origin_chain_id" | "attester_set"> & { unreleased: bigint; unfinal: bigint };
/** There is a row even if nothing is at risk. */
type SumRow = { broken: string[] } & (Sum | { origin_chain_id: null });

/** Adds a value to what is at risk. Returns false and adds nothing if that would be more than the caps allow. */
export function putAtRisk(
	sum: AtRisk,
	{
		attesterSet,
		usdCents,
		isFinal,
	}: { attesterSet: Hex; usdCents: UsdCents /** True if its deposit is. */; isFinal: boolean },
	caps?: ExposureCaps,
): boolean {
	const unreleased = (sum.unreleased.get(attesterSet) ?? 0n) + usdCents;
	const unfinal = sum.unfinal + (isFinal ? 0n : usdCents);
	if (caps && unreleased > caps.unreleasedUsdCents) return false;
	if (caps && !isFinal && unfinal > caps.unfinalUsdCents) return false;
	sum.unreleased.set(attesterSet, unreleased);
	sum.unfinal = unfinal;
	return true;
}

/** Counts values as at risk, whatever the caps: a restored store may not know of one that is delivered. */
export async function insertExposures(
	db: Database,
	exposures: readonly { swap: ExposedSwap; isFinal: boolean }[],
): Promise<void> {
	if (exposures.length === 0) return;
	await db.query({
		name: "insert-exposures",
		text: `insert into exposures (swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final)
			select id, order_id, origin, attester_set, cents, is_final
			from unnest($1::uuid[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bigint[], $6::boolean[])
				as x (id, order_id, origin, attester_set, cents, is_final)
			on conflict do nothing`,
		values: [
			exposures.map(({ swap }) => swap.id),
			exposures.map(({ swap }) => Buffer.from(hexToBytes(swap.orderId))),
			exposures.map(({ swap }) => toChainId(swap.order.originChainId)),
			exposures.map(({ swap }) => Buffer.from(hexToBytes(swap.order.attesterSet))),
			exposures.map(({ swap }) => swap.valueUsdCents),
			exposures.map(({ isFinal }) => isFinal),
		],
	});
}

type ExposedSwap = { id: SwapUuid; orderId: Hex; order: Order; valueUsdCents: UsdCents };

/** Deletes the exposures of orders that no transaction can fill: nothing is at risk there any more. */
export async function dropExposures(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id from exposures where swap_id = any($1::uuid[]) order by swap_id for update
		)
		delete from exposures x using held where x.swap_id = held.swap_id and not exists (
			select from jobs j where j.swap_id = x.swap_id and j.kind = 'fill' and j.state <> 'refused'
		)`,
		[swapIds],
	);
}
