import { type AttestationKind, fromSolanaWord, type Order, orderId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { makesMarker } from "../chain/solana/marker/makes-marker.ts";
import { type MarkerOwner, readMarkers } from "../chain/solana/marker/read-markers.ts";
import { readLanded } from "../chain/solana/read/read-landed.ts";
import { receivedBy } from "../chain/solana/read/received-by.ts";
import { isPlainPayout } from "./is-plain-payout.ts";

/** Reasons why the outcome to be signed is not true on Solana, or not yet. */
export type SolanaOutcomeRefusal =
	| "not_filled"
	| "filled"
	/** No deadline closes an order on Solana, so a payout may still land. Its void marker closes it. */
	| "not_voided"
	| "voided"
	/** The caller does not say which transaction paid it. */
	| "delivery_unnamed";

/**
 * Checks each order on Solana, at finality. The one transaction that the caller names shows that an order was paid; the
 * order's marker shows that it never will be.
 */
export async function checkSolanaOutcomes(
	chain: SolanaChain,
	{
		kind,
		orders,
		deliveries,
	}: {
		kind: AttestationKind;
		orders: readonly Order[];
		/** The transaction in which to look for the payout, by order id. */
		deliveries: ReadonlyMap<Hex, Hex>;
	},
): Promise<(SolanaOutcomeRefusal | undefined)[]> {
	const markers = await readMarkers(chain, {
		base: chain.deployment.vault,
		orderIds: orders.map(orderId),
		commitment: "finalized",
	});
	if (kind === "Refund") return markers.map(refundRefusal);
	return Promise.all(
		orders.map(async (order, i) => {
			if (markers[i] === "escrow") return "voided";
			const signature = deliveries.get(orderId(order));
			if (!signature) return "delivery_unnamed";
			return (await isPaid(chain, { order, signature })) ? undefined : "not_filled";
		}),
	);
}

function refundRefusal(marker: MarkerOwner | undefined): SolanaOutcomeRefusal | undefined {
	if (marker === "escrow") return undefined;
	return marker === "vault" ? "filled" : "not_voided";
}

/**
 * Returns whether this transaction paid this order. The caller may hold every key of the service: the transaction must
 * match the order by its marker and by the change of the recipient's balance, and the same payment must not pass for
 * another order's.
 */
async function isPaid(
	chain: SolanaChain,
	{ order, signature }: { order: Order; signature: Hex },
): Promise<boolean> {
	const { vault, escrow, feePayers } = chain.deployment;
	const recipient = fromSolanaWord(order.recipient);
	// A transfer from one of our keys to another has paid nobody.
	if ([vault, escrow, ...feePayers].includes(recipient)) return false;
	const landed = await readLanded(chain, signature, "finalized");
	if (!landed || landed.isFailed) return false;
	if (!makesMarker(landed, { base: vault, orderId: orderId(order), owner: vault })) return false;
	const amount = await receivedBy(landed, { owner: recipient, token: order.outputToken });
	if (amount < order.minOutput) return false;
	return isPlainPayout(landed, { deployment: chain.deployment, order, amount });
}
