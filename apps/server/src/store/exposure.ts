import { type Order, orderId, type SwapUuid, toChainId } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database } from "./database.ts";

/** Of inputs from one chain, in flight: the most that may be at risk. */
export type ExposureCaps = { unreleasedUsdCents: bigint; unfinalUsdCents: bigint };

/**
 * Puts a swap's value at risk: it may be delivered from now on, and its input is not ours yet. Says whether everything
 * that is at risk then stays within the caps; whoever is told otherwise takes it back.
 *
 * Until the transaction ends nobody else does so for that chain: two fills of which each sees room for itself would
 * together be too much.
 */
export async function takeExposure(
	db: Database,
	{
		swap: { id, order, valueUsdCents },
		caps,
	}: { swap: { id: SwapUuid; order: Order; valueUsdCents: bigint }; caps: ExposureCaps },
): Promise<boolean> {
	const origin = toChainId(order.originChainId);
	// Before anything is read: what whoever held this lock has put at risk must be seen.
	await db.query({
		name: "lock-exposure",
		text: "select pg_advisory_xact_lock(hashtextextended('exposure:' || $1, 0))",
		values: [String(origin)],
	});
	await insertExposure(db, { id, order, valueUsdCents });
	const { rows } = await db.query<{ unreleased: bigint; unfinal: bigint; is_final: boolean }>({
		name: "sum-exposure",
		text: `select coalesce(sum(value_usd_cents) filter (where attester_set = $2), 0) as unreleased,
				coalesce(sum(value_usd_cents) filter (where not is_final), 0) as unfinal,
				bool_or(is_final) filter (where swap_id = $3) as is_final
			from exposures where origin_chain_id = $1`,
		values: [origin, hexToBytes(order.attesterSet), id],
	});
	const [sum] = rows;
	if (!sum) throw new Error("an aggregate has a row");
	return sum.unreleased <= caps.unreleasedUsdCents && (sum.is_final || sum.unfinal <= caps.unfinalUsdCents);
}

/** Counts what is at risk, whatever the caps: it is delivered, and a store that was restored may not know of it. */
export async function insertExposure(
	db: Database,
	{ id, order, valueUsdCents }: { id: SwapUuid; order: Order; valueUsdCents: bigint },
): Promise<void> {
	await db.query({
		name: "insert-exposure",
		text: `insert into exposures (swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final)
			values ($1, $2, $3, $4, $5, exists (
				select from chain_events e join chain_heads h using (chain_id)
				where e.order_id = $2 and e.name = 'Opened' and chain_id = $3 and e.block_number <= h.finalized_number
			)) on conflict do nothing`,
		values: [
			id,
			hexToBytes(orderId(order)),
			toChainId(order.originChainId),
			hexToBytes(order.attesterSet),
			valueUsdCents,
		],
	});
}

/** Nothing is at risk any more where the swap has ended, or no transaction can fill its order. */
export async function dropExposure(db: Database, swapId: SwapUuid): Promise<void> {
	await db.query(
		`delete from exposures where swap_id = $1 and not exists (
			select from jobs where swap_id = $1 and kind = 'fill' and state <> 'refused'
		)`,
		[swapId],
	);
}

/** The deposits up to this block can no longer be dropped. Those of before too: one may have been taken in meanwhile. */
export async function markDepositsFinal(
	db: Database,
	{ chainId, upTo }: { chainId: number; upTo: number },
): Promise<void> {
	await db.query(
		`update exposures set is_final = true from chain_events e
		where e.chain_id = $1 and e.block_number <= $2 and e.name = 'Opened'
			and exposures.order_id = e.order_id and origin_chain_id = $1 and not is_final`,
		[chainId, upTo],
	);
}
