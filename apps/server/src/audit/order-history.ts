import { type Order, toWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { ChainEvents } from "./read-chain-events.ts";

/** Everything that happened to one order, on all chains. */
export type OrderHistory = {
	orderId: Hex;
	order: Order | undefined;
	opened: ChainEvents["opened"];
	released: ChainEvents["released"];
	refunded: ChainEvents["refunded"];
	filled: ChainEvents["filled"];
	voided: ChainEvents["voided"];
	/** Of what its chain owed the wallet, which an input that could not be refunded is part of. */
	claimed: ChainEvents["claimed"];
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
	for (const history of histories.values())
		history.claimed = chains.flatMap((events) => claimsOf(history, events));
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

function claimsOf({ order, refunded }: OrderHistory, { claimed }: ChainEvents): ChainEvents["claimed"] {
	const [refund] = refunded;
	if (!order || !refund) return [];
	return claimed.filter(
		({ chainId, block, escrow, beneficiary, token }) =>
			chainId === refund.chainId &&
			block >= refund.block &&
			toWord(escrow) === order.escrow &&
			toWord(beneficiary) === order.wallet &&
			toWord(token) === order.inputToken,
	);
}
