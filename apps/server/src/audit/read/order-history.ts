import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type ChainEvents, claimKey } from "./read-chain-events.ts";

/** Everything that happened to one order, on all chains. */
export type OrderHistory = {
	orderId: Hex;
	order: Order | undefined;
	opened: ChainEvents["opened"];
	released: ChainEvents["released"];
	refunded: ChainEvents["refunded"];
	filled: ChainEvents["filled"];
	voided: ChainEvents["voided"];
	/** The last claim of the escrow's debt to the wallet, which includes an input that could not be refunded. */
	claimed: { block: number }[];
};

const kinds = ["opened", "released", "refunded", "filled", "voided"] as const;

export function orderHistories(chains: readonly ChainEvents[]): Map<Hex, OrderHistory> {
	const histories = new Map<Hex, OrderHistory>();
	for (const events of chains) {
		for (const kind of kinds) {
			for (const event of events[kind]) {
				const history = histories.get(event.orderId) ?? emptyHistory(event.orderId);
				(history[kind] as (typeof event)[]).push(event);
				if ("order" in event) history.order = event.order;
				histories.set(event.orderId, history);
			}
		}
	}
	const claims = new Map(chains.flatMap(({ claimed }) => [...claimed]));
	for (const history of histories.values()) {
		const [refund] = history.refunded;
		const { order } = history;
		if (!order || !refund) continue;
		const key = claimKey(refund.chainId, order.escrow, order.wallet, order.inputToken);
		const claim = claims.get(key);
		if (claim && claim.block >= refund.block) history.claimed.push(claim);
	}
	return histories;
}

function emptyHistory(orderId: Hex): OrderHistory {
	return {
		orderId,
		order: undefined,
		opened: [],
		released: [],
		refunded: [],
		filled: [],
		voided: [],
		claimed: [],
	};
}
