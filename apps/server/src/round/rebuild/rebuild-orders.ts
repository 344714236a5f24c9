import {
	fromSwapKey,
	isSolana,
	type Milliseconds,
	type Order,
	swapUuidTimeMs,
	toSwapId,
	type UsdCents,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { chainOf } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { DatabasePool } from "../../database/database.ts";
import { wasRestoredSince } from "../../database/restores.ts";
import type { RefundWorth } from "../../desk/refund-worth.ts";
import type { Engine } from "../../durable/engine.ts";
import { roundTarget } from "../../durable/poke-targets.ts";
import {
	decideUnknownOrder,
	forgetLeftOrders,
	type PostponedOrder,
	postponeUnknownOrders,
	readUnknownOrders,
	readWorthyOrders,
	type UnknownOrder,
} from "../../swap/record/unknown-orders.ts";
import type { Log } from "../../telemetry/log.ts";
import { rebuildSwap } from "./rebuild-swap.ts";
import { whyNotOurs } from "./why-not-ours.ts";

/**
 * The maximum number of orders that are judged in one call. It limits what strangers' orders cost the service at a
 * time.
 */
const maxAtOnce = 500;
/** The maximum number of orders of a chain whose refunds begin in one call. */
const maxRefundsAtOnce = 100;
const microUsdPerUsd = 1_000_000;

/** The outcome of an order from another chain, by its record on Solana. */
export type SolanaOutcome = "filled" | "voided" | "none";

export type RebuildOptions = {
	config: Pick<Config, "chains" | "deployment" | "earlierAttesterSets" | "limits">;
	pool: DatabasePool;
	engine: Engine;
	/** Returns undefined while there is no price. */
	worthOf: (order: Order) => RefundWorth | undefined;
	/** Reads the outcomes of orders to Solana at a final slot. If absent, no such order is decided. */
	readSolanaOutcomes?: (orderIds: readonly Hex[]) => Promise<SolanaOutcome[]>;
	nowMs: () => Milliseconds;
	log: Log;
};

/**
 * Creates swaps for orders that are open on a chain and have none, as after a restore from an old backup. These are
 * orders that name contracts, attesters and assets of the service, and whose input is worth ten refunds. They are never
 * filled. An order that was filled before is released, the rest are refunded. An order that was refunded already gets a
 * swap only if a restore may have lost its own. All other orders are left to their wallets, which can call `refund()`,
 * except those that were delivered or may turn out to have been. To be called repeatedly. Returns how many it created.
 *
 * Anyone can open orders that cost the service a refund, so each chain has a budget. The most valuable inputs come
 * first, so that many small orders do not keep a large one waiting, even if it was opened much later.
 */
export async function rebuildOrders(options: RebuildOptions): Promise<number> {
	const { pool, log } = options;
	const judged = await handle(options, await readUnknownOrders(pool, { limit: maxAtOnce }));
	const worthy = await readWorthyOrders(pool, { limit: maxRefundsAtOnce });
	const refunded = await handle(options, worthy, { refunds: true });
	if (refunded.heldChainIds.size > 0) {
		const chainIds = [...refunded.heldChainIds].map(String);
		log.warn({ chainIds }, "orders without a swap wait, because the budget for their refunds is used up");
	}
	await forgetLeftOrders(pool);
	return judged.rebuilt + refunded.rebuilt;
}

type Handled = { rebuilt: number /** The chains whose budget is used up. */; heldChainIds: Set<bigint> };

/**
 * Handles orders one by one. Without `refunds`, those that cost us a refund get their value and wait for their turn.
 */
async function handle(
	options: RebuildOptions,
	orders: readonly UnknownOrder[],
	{ refunds = false } = {},
): Promise<Handled> {
	const { pool, nowMs, log } = options;
	const outcomes = await readSolana(options, orders);
	const handled: Handled = { rebuilt: 0, heldChainIds: new Set() };
	const postponed: PostponedOrder[] = [];
	for (const unknown of orders) {
		const { orderId, order } = unknown;
		if (handled.heldChainIds.has(order.originChainId)) continue;
		try {
			const verdict = await judge(options, { ...unknown, onSolana: outcomes.get(orderId) });
			if (verdict.do === "postpone") postponed.push({ orderId });
			else if (verdict.do === "leave") await leave(options, unknown, verdict.reason);
			else if (verdict.costMicroUsd !== undefined && !refunds) postponed.push({ orderId, ...verdict });
			else {
				const outcome = await rebuild(options, unknown, verdict);
				if (outcome === "rebuilt") handled.rebuilt++;
				if (outcome === "held") handled.heldChainIds.add(order.originChainId);
			}
		} catch (err) {
			// An order with arbitrary contents from a stranger must not keep the others waiting.
			log.warn({ orderId, err }, "an order without a swap could not be handled; retrying");
			postponed.push({ orderId });
		}
	}
	await postponeUnknownOrders(pool, postponed, { nowMs: nowMs() });
	return handled;
}

async function readSolana(
	{ readSolanaOutcomes, log }: RebuildOptions,
	orders: readonly UnknownOrder[],
): Promise<Map<Hex, SolanaOutcome>> {
	const orderIds = orders.flatMap(({ orderId, order }) =>
		isSolana(order.destinationChainId) ? [orderId] : [],
	);
	if (!readSolanaOutcomes || orderIds.length === 0) return new Map();
	try {
		const outcomes = await readSolanaOutcomes(orderIds);
		return new Map(orderIds.map((orderId, i) => [orderId, outcomes[i] ?? "none"]));
	} catch (err) {
		log.warn({ err }, "orders to Solana without a swap wait until their records can be read");
		return new Map();
	}
}

type Verdict =
	| { do: "postpone" }
	| { do: "leave"; reason: string }
	/** `costMicroUsd`: the maximum cost of its refund; undefined if it needs none. */
	| { do: "rebuild"; valueUsdCents: UsdCents; costMicroUsd: bigint | undefined };

async function judge(
	{ config, pool, worthOf, log }: RebuildOptions,
	unknown: UnknownOrder & { onSolana: SolanaOutcome | undefined },
): Promise<Verdict> {
	const { orderId, order, onSolana, isRefunded } = unknown;
	const delivery = deliveryOf(unknown, config);
	const isDelivered = delivery === "made";
	const notOurs = whyNotOurs(unknown, config);
	if (notOurs && isDelivered) {
		const told = { orderId, originChainId: String(order.originChainId), reason: notOurs };
		log.error(told, "a delivered order cannot be released with this configuration");
		return { do: "postpone" };
	}
	if (notOurs) return delivery === "none" ? { do: "leave", reason: notOurs } : { do: "postpone" };

	const worth = worthOf(order);
	// A delivered order is to be released, regardless of its worth.
	if (isDelivered) {
		return { do: "rebuild", valueUsdCents: worth?.valueUsdCents ?? 0n, costMicroUsd: undefined };
	}
	// Anyone can open orders and refund them, so only a swap that a restore may have lost is recorded after its end.
	if (isRefunded && !(await wasRestoredSince(pool, swapUuidTimeMs(fromSwapKey(order.swapKey))))) {
		const reason = "its input was refunded, and it is newer than the last restore";
		return delivery === "none" ? { do: "leave", reason } : { do: "postpone" };
	}
	if (!worth) return { do: "postpone" };
	if (!worth.isWorth) {
		// Fees come down again. Once the wallet can call `refund()` itself, the order need not wait for that.
		const isRefundable = BigInt(unknown.originFinalAt) >= unpackDeadlines(order.deadlines).refundAfter;
		const isOver = delivery === "none" && isRefundable;
		return isOver ? { do: "leave", reason: "its input is worth less than ten refunds" } : { do: "postpone" };
	}
	// No order to Solana is closed before its record was read.
	if (isSolana(order.destinationChainId) && !onSolana) return { do: "postpone" };
	const { valueUsdCents, costMicroUsd } = worth;
	return { do: "rebuild", valueUsdCents, costMicroUsd: isRefunded ? undefined : costMicroUsd };
}

async function leave(
	{ pool, nowMs, log }: RebuildOptions,
	{ orderId, order }: UnknownOrder,
	reason: string,
): Promise<void> {
	await decideUnknownOrder(pool, orderId, { outcome: "left", reason, nowMs: nowMs() });
	const told = { orderId, originChainId: String(order.originChainId), reason };
	log.info(told, "an order without a swap is left to its wallet");
}

async function rebuild(
	{ config, pool, engine, nowMs, log }: RebuildOptions,
	{ orderId, order }: UnknownOrder,
	{ valueUsdCents, costMicroUsd }: Verdict & { do: "rebuild" },
): Promise<"rebuilt" | "known" | "held"> {
	const perDayMicroUsd = BigInt(Math.round(config.limits.rebuiltRefundsUsdPerDay * microUsdPerUsd));
	const refund = costMicroUsd === undefined ? undefined : { costMicroUsd, perDayMicroUsd };
	const rebuilt = await rebuildSwap(pool, { orderId, order, valueUsdCents, refund, nowMs: nowMs() });
	if (rebuilt.outcome !== "rebuilt") return rebuilt.outcome;
	const swapId = toSwapId(rebuilt.id);
	const told = { orderId, originChainId: String(order.originChainId), swapId };
	log.warn(told, "a swap was rebuilt from its order on the chain");
	// The swap is due, so at worst the tick finds it.
	await engine
		.poke(roundTarget)
		.catch((err: unknown) => log.warn({ swapId, err }, "the round could not be poked"));
	return "rebuilt";
}

/**
 * Returns what is known of an order's delivery. Each chain is followed at its own pace, and only a record shows what a
 * lost database has paid on Solana. A missing record counts once none can be made any more.
 */
function deliveryOf(
	{ order, isFilled, destinationFinalAt, onSolana }: UnknownOrder & { onSolana: SolanaOutcome | undefined },
	config: RebuildOptions["config"],
): "made" | "none" | "unknown" {
	if (isFilled || onSolana === "filled") return "made";
	const isToSolana = isSolana(order.destinationChainId);
	if (!chainOf(config, order.destinationChainId) || onSolana === "voided") return "none";
	if (destinationFinalAt === undefined || (isToSolana && !onSolana)) return "unknown";
	return BigInt(destinationFinalAt) >= unpackDeadlines(order.deadlines).fillDeadline ? "none" : "unknown";
}
