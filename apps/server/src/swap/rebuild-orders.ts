import { type Order, toSwapId } from "@geoswap/protocol";
import type { Config } from "../config.ts";
import type { Engine } from "../durable/durable.ts";
import type { Log } from "../log.ts";
import type { DatabasePool } from "../store/database.ts";
import { rebuildSwap } from "../store/rebuild-swap.ts";
import {
	decideUnknownOrder,
	postponeUnknownOrder,
	readUnknownOrders,
	type UnknownOrder,
} from "../store/unknown-orders.ts";
import type { RefundWorth } from "../venue/refund-worth.ts";
import { whyNotOurs } from "./why-not-ours.ts";

/** Of one call: what strangers open costs us so much at a time and no more. */
const mostAtOnce = 100;

export type RebuildOptions = {
	config: Pick<Config, "chains" | "solana" | "deployment" | "earlierAttesterSets">;
	pool: DatabasePool;
	engine: Pick<Engine, "startSwap">;
	/** Undefined while there is no price. */
	worthOf: (order: Order) => RefundWorth | undefined;
	nowMs: () => number;
	log: Log;
};

/**
 * Makes swaps of orders that are open on a chain and have none, as after a restore from an old backup: those that name
 * contracts, attesters and assets of ours, and whose input is worth ten refunds. They are never filled; what was filled
 * is released, the rest refunded. All others are left to their wallets, who can call `refund()`. To be called again and
 * again. Returns how many were made.
 */
export async function rebuildOrders(options: RebuildOptions): Promise<number> {
	let count = 0;
	for (const unknown of await readUnknownOrders(options.pool, { limit: mostAtOnce })) {
		if (await rebuild(options, unknown)) count++;
	}
	return count;
}

async function rebuild(
	{ config, pool, engine, worthOf, nowMs, log }: RebuildOptions,
	unknown: UnknownOrder,
): Promise<boolean> {
	const { orderId, order, isFilled } = unknown;
	const told = { orderId, originChainId: String(order.originChainId) };
	const leave = async (reason: string) => {
		await decideUnknownOrder(pool, orderId, { outcome: "left", reason, nowMs: nowMs() });
		log.warn({ ...told, reason }, "an order that nobody submitted is left to its wallet");
		return false;
	};
	const notOurs = whyNotOurs(unknown, config);
	if (notOurs) return leave(notOurs);
	// What we delivered is to be released, whatever it is worth.
	const worth = worthOf(order) ?? (isFilled ? { valueUsdCents: 0n, isWorth: true } : undefined);
	if (!worth) {
		await postponeUnknownOrder(pool, orderId, { nowMs: nowMs() });
		return false;
	}
	if (!worth.isWorth && !isFilled) return leave("its input is worth less than ten refunds");
	const { valueUsdCents } = worth;
	const rebuilt = await rebuildSwap(pool, { orderId, order, valueUsdCents, nowMs: nowMs() });
	if (rebuilt.outcome === "taken") return leave("another order's swap has its id");
	if (rebuilt.outcome === "submitted") return false;
	const swapId = toSwapId(rebuilt.id);
	log.warn({ ...told, swapId }, "a swap was rebuilt from its order on the chain");
	// Else the sweep does.
	await engine
		.startSwap(rebuilt.id, rebuilt.execution)
		.catch((err: unknown) => log.warn({ swapId, err }, "swap not started yet"));
	return true;
}
