import { fromSwapKey, type Order, orderToJson, type SwapUuid, swapUuidTimeMs } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { type DatabasePool, inTransaction } from "./database.ts";
import { ensurePartitions } from "./ensure-partitions.ts";
import { startAnew } from "./restart-swaps.ts";
import { deliveryToJson } from "./swap-json.ts";
import { decideUnknownOrder } from "./unknown-orders.ts";

type RebuildOutcome =
	| { outcome: "rebuilt"; id: SwapUuid; execution: number }
	/** Somebody submitted it after all. */
	| { outcome: "submitted" }
	/** Another order's swap has its id. */
	| { outcome: "taken" };

/**
 * Makes a swap of an order that is open on its chain and has none: without an account, and without an op, so that it is
 * never filled. Nothing is reserved for it.
 */
export async function rebuildSwap(
	pool: DatabasePool,
	{
		orderId,
		order,
		valueUsdCents,
		nowMs,
	}: { orderId: Hex; order: Order; valueUsdCents: bigint; nowMs: number },
): Promise<RebuildOutcome> {
	const id = fromSwapKey(order.swapKey);
	const quotedAtMs = swapUuidTimeMs(id);
	// What is forgotten may be older than any partition of a database that was just restored.
	await ensurePartitions(pool, { nowMs: quotedAtMs, daysAhead: 0 });
	return inTransaction(pool, async (db): Promise<RebuildOutcome> => {
		const { rowCount } = await db.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, created_at)
			values ($1, $2, $3, $4, $5, $6, to_timestamp($7::double precision / 1000)) on conflict do nothing`,
			[
				id,
				hexToBytes(orderId),
				orderToJson(order),
				order.minOutput,
				valueUsdCents,
				// What was promised is not known, and nothing is delivered.
				deliveryToJson({ kind: "stock", amount: order.minOutput }),
				quotedAtMs,
			],
		);
		if (rowCount === 0) {
			const { rows } = await db.query<{ is_same: boolean }>(
				"select order_id = $2 as is_same from swaps where id = $1",
				[id, hexToBytes(orderId)],
			);
			if (!rows[0]?.is_same) return { outcome: "taken" };
			await decideUnknownOrder(db, orderId, { outcome: "submitted", nowMs });
			return { outcome: "submitted" };
		}
		await db.query("insert into swap_events (swap_id, fact) values ($1, 'rebuilt')", [id]);
		// An engine that was not restored with the database remembers the swap's earlier executions, and would not start
		// one of the same number.
		const execution = await startAnew(db, { swap: { id, orderId }, nowMs });
		await decideUnknownOrder(db, orderId, { outcome: "rebuilt", nowMs });
		return { outcome: "rebuilt", id, execution };
	});
}
