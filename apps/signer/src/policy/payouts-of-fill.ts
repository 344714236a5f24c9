import { type Order, orderId, unpackDeadlines } from "@geoswap/protocol";
import type { OrderDecision, Payout } from "./judgement.ts";

type Paid = Pick<Payout, "meter" | "token" | "amount">;

/** Returns the payouts of a fill: the amount that it takes from the vault, and the order's top-up. */
export function payoutsOfFill(
	order: Order,
	{ output, native }: { output: Paid; native: Omit<Paid, "amount"> },
): Payout[] {
	const about = { item: orderId(order), order };
	if (order.topUp === 0n) return [{ ...about, ...output }];
	// One meter counts one amount for an order.
	if (output.meter === native.meter) return [{ ...about, ...output, amount: output.amount + order.topUp }];
	const topUp = { ...native, amount: order.topUp };
	return [
		{ ...about, ...output, beside: worthOf(topUp) },
		{ ...about, ...topUp, beside: worthOf(output) },
	];
}

function worthOf({ token, amount }: Paid): NonNullable<Payout["beside"]> {
	return { token, amount };
}

/** Returns the decision of a fill. Voids and decided orders need none, as vault and escrow decide an order once. */
export function deliveryOf(order: Order): OrderDecision {
	const id = orderId(order);
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const place = {
		orderId: id,
		chainId: Number(order.destinationChainId),
		vault: order.destinationVault,
		fillDeadline: Number(fillDeadline),
		refundAfter: Number(refundAfter),
	};
	return { end: "delivery", orderId: id, place };
}
