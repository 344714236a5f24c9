import { isSolana, type Milliseconds, type Order, toSwapId, unpackDeadlines } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { MarkerOwner } from "../../chain/solana/marker/read-markers.ts";
import { chainOf } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { RefundWorth } from "../../desk/refund-worth.ts";
import type { Engine } from "../../durable/durable.ts";
import {
	countRebuilt,
	decideUnknownOrder,
	forgetLeftOrders,
	postponeUnknownOrder,
	readUnknownOrders,
	type UnknownOrder,
} from "../../swap/record/unknown-orders.ts";
import type { Log } from "../../telemetry/log.ts";
import { rebuildSwap } from "./rebuild-swap.ts";
import { whyNotOurs } from "./why-not-ours.ts";

/** Most orders of one call: it limits what the orders that strangers open cost us at a time. */
const mostAtOnce = 100;
const dayMs = 86_400_000;
/** The reason by which orders that cost us a marker are counted. */
const toBeVoided = "it is to be closed on Solana";

export type RebuildOptions = {
	config: Pick<Config, "chains" | "deployment" | "earlierAttesterSets" | "limits">;
	pool: DatabasePool;
	engine: Engine;
	/** Returns undefined while there is no price. */
	worthOf: (order: Order) => RefundWorth | undefined;
	/** Returns the owners of the vault's final markers of these orders. If absent, no order to Solana is decided. */
	markersOf?: (orderIds: readonly Hex[]) => Promise<(MarkerOwner | undefined)[]>;
	nowMs: () => Milliseconds;
	log: Log;
};

/**
 * Creates swaps for orders that are open on a chain and have none, as after a restore from an old backup: those that
 * name contracts, attesters and assets of ours, and whose input is worth ten refunds. They are never filled: an order
 * that was filled before is released, the rest are refunded. All other orders are left to their wallets, which can call
 * `refund()`, except those that were delivered or may turn out to have been. To be called again and again. Returns how
 * many it created.
 */
export async function rebuildOrders(options: RebuildOptions): Promise<number> {
	const { pool, nowMs, log } = options;
	const orders = await readUnknownOrders(pool, { limit: mostAtOnce });
	const markers = await readSolana(options, orders);
	const count = { rebuilt: 0, held: 0 };
	for (const unknown of orders) {
		const { orderId } = unknown;
		try {
			const done = await rebuild(options, { ...unknown, marker: markers.get(orderId) });
			if (done) count[done]++;
		} catch (err) {
			// An order with arbitrary contents from a stranger must not keep the others waiting.
			log.warn({ orderId, err }, "an order without a swap could not be handled; retrying");
			await postponeUnknownOrder(pool, orderId, { nowMs: nowMs() });
		}
	}
	if (count.held > 0) {
		log.warn(
			{ orders: count.held },
			"orders to Solana without a swap wait: the daily limit of closed orders is reached",
		);
	}
	await forgetLeftOrders(pool);
	return count.rebuilt;
}

/** `none` if there is no marker. */
type Marker = MarkerOwner | "none";

async function readSolana(
	{ markersOf, log }: RebuildOptions,
	orders: readonly UnknownOrder[],
): Promise<Map<Hex, Marker>> {
	const orderIds = orders.flatMap(({ orderId, order }) =>
		isSolana(order.destinationChainId) ? [orderId] : [],
	);
	if (!markersOf || orderIds.length === 0) return new Map();
	try {
		const owners = await markersOf(orderIds);
		return new Map(orderIds.map((orderId, i) => [orderId, owners[i] ?? "none"]));
	} catch (err) {
		log.warn({ err }, "orders to Solana without a swap wait until their markers can be read");
		return new Map();
	}
}

async function rebuild(
	options: RebuildOptions,
	unknown: UnknownOrder & { marker: Marker | undefined },
): Promise<"rebuilt" | "held" | undefined> {
	const { config, pool, engine, worthOf, nowMs, log } = options;
	const { orderId, order, marker } = unknown;
	const told = { orderId, originChainId: String(order.originChainId) };
	const postpone = async () => {
		await postponeUnknownOrder(pool, orderId, { nowMs: nowMs() });
		return undefined;
	};
	const leave = async (reason: string) => {
		await decideUnknownOrder(pool, orderId, { outcome: "left", reason, nowMs: nowMs() });
		log.info({ ...told, reason }, "an order without a swap is left to its wallet");
		return undefined;
	};
	const delivery = deliveryOf(unknown, config);
	const isDelivered = delivery === "made";
	const notOurs = whyNotOurs(unknown, config);
	if (notOurs && isDelivered) {
		log.error({ ...told, reason: notOurs }, "a delivered order cannot be released with this configuration");
		return postpone();
	}
	if (notOurs) return delivery === "none" ? leave(notOurs) : postpone();

	// A delivered order is to be released, whatever it is worth.
	const worth = worthOf(order) ?? (isDelivered ? { valueUsdCents: 0n, isWorth: true } : undefined);
	if (!worth) return postpone();
	if (!worth.isWorth && !isDelivered) {
		// Fees come down again. Once the wallet can call `refund()` itself, the order need not wait for that.
		const isRefundable = BigInt(unknown.originFinalAt) >= unpackDeadlines(order.deadlines).refundAfter;
		const isOver = delivery === "none" && isRefundable;
		return isOver ? leave("its input is worth less than ten refunds") : postpone();
	}

	const isToSolana = isSolana(order.destinationChainId);
	// No order to Solana is closed before its markers were read, or if its input was refunded.
	if (isToSolana && !marker) return postpone();
	const isToBeVoided = isToSolana && marker === "none" && !unknown.isRefunded;
	if (isToBeVoided && (await isEnoughVoided(options))) {
		await postpone();
		return "held";
	}
	const { valueUsdCents } = worth;
	const reason = isToBeVoided ? { reason: toBeVoided } : {};
	const rebuilt = await rebuildSwap(pool, { orderId, order, valueUsdCents, ...reason, nowMs: nowMs() });
	if (rebuilt.outcome === "known") return undefined;
	const swapId = toSwapId(rebuilt.id);
	log.warn({ ...told, swapId }, "a swap was rebuilt from its order on the chain");
	// The swap is due: at worst the tick finds it.
	await engine
		.poke({ object: "round", key: "0" })
		.catch((err: unknown) => log.warn({ swapId, err }, "the round could not be poked"));
	return "rebuilt";
}

async function isEnoughVoided({ config, pool, nowMs }: RebuildOptions): Promise<boolean> {
	const voided = await countRebuilt(pool, { reason: toBeVoided, sinceMs: nowMs() - dayMs });
	return voided >= config.limits.rebuiltVoidsPerDay;
}

/**
 * Returns what is known of an order's delivery. Each chain is followed at its own pace, and only a marker shows what a
 * lost database has paid on Solana. A missing marker counts once none can be made any more.
 */
function deliveryOf(
	{ order, isFilled, destinationFinalAt, marker }: UnknownOrder & { marker: Marker | undefined },
	config: RebuildOptions["config"],
): "made" | "none" | "unknown" {
	if (isFilled || marker === "vault") return "made";
	const isToSolana = isSolana(order.destinationChainId);
	if (!chainOf(config, order.destinationChainId) || marker === "escrow") return "none";
	if (destinationFinalAt === undefined || (isToSolana && !marker)) return "unknown";
	return BigInt(destinationFinalAt) >= unpackDeadlines(order.deadlines).fillDeadline ? "none" : "unknown";
}
