import {
	fromSwapKey,
	isSolana,
	type Milliseconds,
	type Order,
	orderToJson,
	type SwapUuid,
	spareSwapUuid,
	swapUuidTimeMs,
	toChainId,
	type UsdCents,
} from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import { ensurePartitions } from "../../database/migrate.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { deliveryToJson } from "../../swap/record/swap-json.ts";
import { decideUnknownOrder, lockUnknownOrder } from "../../swap/record/unknown-orders.ts";

type RebuildOutcome =
	| { outcome: "rebuilt"; id: SwapUuid }
	/** It was submitted after all, or another worker decided it. */
	| { outcome: "known" }
	/** Too little is left of the budget for its refund. */
	| { outcome: "held" };

/**
 * Creates a swap for an order that is open on its chain and has none. The swap has no account and no op, so it is never
 * filled. Nothing is reserved for it. If the swap id in the order is already another order's, it gets a new one.
 */
export async function rebuildSwap(
	pool: DatabasePool,
	{
		orderId,
		order,
		valueUsdCents,
		refund,
		nowMs,
	}: {
		orderId: Hex;
		order: Order;
		valueUsdCents: UsdCents;
		/** The cost of the refund, and the budget that pays for it. Absent if the order needs no refund. */
		refund: { costMicroUsd: bigint; perDayMicroUsd: bigint } | undefined;
		nowMs: Milliseconds;
	},
): Promise<RebuildOutcome> {
	const quotedAtMs = swapUuidTimeMs(fromSwapKey(order.swapKey));
	// The forgotten order may be older than any partition of a database that was just restored.
	await ensurePartitions(pool, { nowMs: quotedAtMs, daysAhead: 0 });
	return inTransaction(pool, async (db): Promise<RebuildOutcome> => {
		if (!(await lockUnknownOrder(db, orderId))) return { outcome: "known" };
		const id = await freeId(db, { orderId, order });
		if (!id) {
			await decideUnknownOrder(db, orderId, { outcome: "submitted", nowMs });
			return { outcome: "known" };
		}
		const chainId = toChainId(order.originChainId);
		if (refund && !(await takeRefundBudget(db, { chainId, ...refund, nowMs }))) return { outcome: "held" };
		// If a submit takes the id at this moment, this throws, and the next call finds it.
		await db.query(
			namedParameters(
				`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, created_at)
				values ($id, $orderId, $orderTerms, $output, $valueUsdCents, $delivery,
					coalesce(to_timestamp($createdAtMs::double precision / 1000), now()))`,
				{
					id,
					orderId: hexToBytes(orderId),
					orderTerms: orderToJson(order),
					output: order.minOutput,
					valueUsdCents,
					// The promised output is not known, and nothing is delivered.
					delivery: deliveryToJson({ kind: "inventory", amount: order.minOutput }),
					// The follower of Solana writes the events of an order once its swap exists. A new swap has time until then
					// before it counts as never opened.
					createdAtMs: isSolana(order.originChainId) ? null : quotedAtMs,
				},
			),
		);
		await db.query("insert into swap_events (swap_id, fact) values ($1, 'rebuilt')", [id]);
		await db.query("insert into waits (swap_id, order_id, fact) values ($1, $2, 'rebuilt')", [
			id,
			hexToBytes(orderId),
		]);
		await decideUnknownOrder(db, orderId, { outcome: "rebuilt", nowMs });
		return { outcome: "rebuilt", id };
	});
}

/** Returns an id for the order's swap; undefined if the order has a swap. */
async function freeId(
	db: Database,
	{ orderId, order }: { orderId: Hex; order: Order },
): Promise<SwapUuid | undefined> {
	const own = fromSwapKey(order.swapKey);
	const spare = spareSwapUuid({ swapKey: order.swapKey, orderId });
	const { rows } = await db.query<{ id: SwapUuid; is_same: boolean }>(
		"select id, order_id = $2 as is_same from swaps where id = any($1::uuid[])",
		[[own, spare], hexToBytes(orderId)],
	);
	if (rows.some(({ is_same }) => is_same)) return undefined;
	return rows.some(({ id }) => id === own) ? spare : own;
}

const daySeconds = 86_400;

/**
 * Takes the cost of a refund from its chain's budget. Returns false and takes nothing if too little is left.
 *
 * The budget is a bucket that holds a day's amount and fills evenly. So after any number of refunds the next one waits
 * for minutes and not for the next day, and in n days at most n + 1 days' amounts are spent. A full bucket also pays for
 * a single refund that costs more than a day's amount.
 */
async function takeRefundBudget(
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
