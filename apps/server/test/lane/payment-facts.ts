import { addressOfWord, fromSwapKey, type Order, orderId, orderToJson } from "@geoswap/protocol";
import { type Hex, hexToBytes, zeroHash } from "viem";
import type { Database } from "../../src/database/database.ts";
import type { PaymentRules } from "../../src/lane/payment-problem.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import { deliveryToJson } from "../../src/swap/record/swap-json.ts";

/**
 * Payment rules for tests of something else. A deposit counts when it is final, every order is the service's, and all
 * amounts are worth the same.
 */
export const plainPayments: Omit<PaymentRules, "settlementToken"> = {
	depositPolicyOf: () => ({ depths: [] }),
	whyNotOurs: () => undefined,
	worthE18: () => 10n ** 18n,
	// Each asset is worth the same here, and a fill may pay an output and a top-up.
	fillMarginBps: 10_000,
};

/**
 * Writes the facts that justify a payment: the swap with its reservation, as a submit does, and the order's deposit in
 * a final block, as a follower does.
 */
export async function justifyPayment(
	db: Database,
	order: Order,
	{
		delivery,
		spends,
	}: { delivery: Delivery /** Token taken from the vault; else the output. */; spends?: Hex | undefined },
): Promise<void> {
	const swapId = fromSwapKey(order.swapKey);
	const id = hexToBytes(orderId(order));
	const { originChainId: from, destinationChainId: to } = order;
	await db.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, $4, 1000, $5) on conflict do nothing`,
		[swapId, id, orderToJson(order), order.minOutput, deliveryToJson(delivery)],
	);
	await db.query(
		`insert into reservations (swap_id, chain_id, token, amount, top_up, value_usd_cents, volumes, lapses_at)
		values ($1, $2, $3, $4, $5, 1000, '[]', now()) on conflict (swap_id) do update set amount = $4`,
		[
			swapId,
			Number(to),
			hexToBytes(spends ?? addressOfWord(to, order.outputToken)),
			takenBy(delivery),
			order.topUp,
		],
	);
	await db.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number) values ($1, 1, '', 0, 0, 1, 0, 0) on conflict do nothing`,
		[Number(from)],
	);
	await db.query(
		`insert into chain_events (chain_id, block_number, log_index, block_hash, transaction_hash, contract, order_id, name, data)
		select $1, 0, (random() * 2147483646)::int, $2, $2, $3, $4, 'Opened', '{}'
		where not exists (select from chain_events where chain_id = $1 and order_id = $4 and name = 'Opened')`,
		[Number(from), hexToBytes(zeroHash), hexToBytes(order.escrow), id],
	);
}

function takenBy(delivery: Delivery): bigint {
	switch (delivery.kind) {
		case "inventory":
			return delivery.amount;
		case "router":
			return delivery.budget;
		case "payout":
			return delivery.amount + delivery.unusedRent;
	}
}
