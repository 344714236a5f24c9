import { addressOfWord, type Milliseconds, type Order, toChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Loss, Report } from "../read/report.ts";
import { type ExposedChain, isDepositLost } from "./check-exposure.ts";

/** Returns the deliveries that will not be paid for. */
export function findLosses({
	chains,
	swaps,
	histories,
	nowMs,
}: {
	chains: readonly ExposedChain[];
	swaps: readonly AuditedSwap[];
	histories: ReadonlyMap<Hex, OrderHistory>;
	nowMs: Milliseconds;
}): Pick<Report, "losses" | "lostUsdCents"> {
	const byOrder = new Map(swaps.map((swap) => [swap.orderId, swap]));
	const losses: Loss[] = [];
	for (const history of histories.values()) {
		const swap = byOrder.get(history.orderId);
		const order = history.order ?? swap?.order;
		if (!order || history.filled.length === 0) continue;
		const chain = chains.find(({ chainId }) => BigInt(chainId) === order.originChainId);
		if (history.refunded.length > 0)
			losses.push(lossOf("delivered-and-refunded", history.orderId, order, swap));
		else if (chain && isDepositLost({ order, history, finalAt: chain.finalAt, nowMs })) {
			losses.push(lossOf("delivered-without-deposit", history.orderId, order, swap));
		}
	}
	const lostUsdCents: Record<string, string> = {};
	for (const { chainId, usdCents = "0" } of losses) {
		lostUsdCents[chainId] = String(BigInt(lostUsdCents[chainId] ?? 0) + BigInt(usdCents));
	}
	return { losses, lostUsdCents };
}

function lossOf(kind: Loss["kind"], orderId: Hex, order: Order, swap: AuditedSwap | undefined): Loss {
	return {
		chainId: toChainId(order.originChainId),
		orderId,
		kind,
		token: addressOfWord(order.originChainId, order.inputToken),
		amount: String(order.inputAmount),
		...(swap && { usdCents: String(swap.valueUsdCents) }),
	};
}
