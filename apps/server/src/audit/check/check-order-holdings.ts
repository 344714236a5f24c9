import type { AuditedSolana } from "../read/audited-solana.ts";
import type { OrderHoldings } from "../read/order-holdings.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";

/** I1 in the program: the account of every order that is open holds its whole input. */
export function checkOrderHoldings(
	{ chainId }: AuditedSolana,
	{ events: { opened, released, refunded }, inOrders }: { events: ChainEvents; inOrders: OrderHoldings },
): Finding[] {
	const paidAt = new Map([...released, ...refunded].map(({ orderId, block }) => [orderId, block]));
	return opened.flatMap(({ orderId, order, block }): Finding[] => {
		const held = inOrders.get(orderId);
		// The events reach at least to the slot of the holdings.
		if (!held || block > held.slot || (paidAt.get(orderId) ?? Number.POSITIVE_INFINITY) <= held.slot)
			return [];
		if (held.amount >= order.inputAmount) return [];
		const message = `the account of an open order on Solana holds ${held.amount} of ${order.inputAmount}`;
		return [{ invariant: "I1", message, chainIds: [chainId], orderId }];
	});
}
