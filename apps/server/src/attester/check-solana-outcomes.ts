import { type AttestationKind, fromSolanaWord, type Order, orderId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { makesMarker } from "../chain/solana/marker/makes-marker.ts";
import { type MarkerOwner, readMarkers } from "../chain/solana/marker/read-markers.ts";
import { readLanded } from "../chain/solana/read/read-landed.ts";
import { receivedBy } from "../chain/solana/read/received-by.ts";
import { isPlainPayout } from "./is-plain-payout.ts";

/** Why what is to be signed is not so on Solana, or not yet. */
export type SolanaOutcomeRefusal =
	| "not_filled"
	| "filled"
	/** No time closes an order on Solana: a payout may still land. Its void marker does. */
	| "not_voided"
	| "voided"
	/** Nobody says which transaction paid it. */
	| "delivery_unnamed";

/**
 * What Solana says of each order, at finality. That an order was paid is told by the one transaction that whoever asks
 * names, that it never will be by the order's marker.
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
		/** By order id: where to look for its payout. */
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
 * Whether this transaction paid this order. Whoever asks may hold every key of the service: it must be of the order by
 * its marker, and by what it did to the recipient's balance, and the same payment must not pass for another's.
 */
async function isPaid(
	chain: SolanaChain,
	{ order, signature }: { order: Order; signature: Hex },
): Promise<boolean> {
	const { vault, escrow, feePayers } = chain.deployment;
	const recipient = fromSolanaWord(order.recipient);
	// What goes from one of our keys to another has paid nobody.
	if ([vault, escrow, ...feePayers].includes(recipient)) return false;
	const landed = await readLanded(chain, signature, "finalized");
	if (!landed || landed.isFailed) return false;
	if (!makesMarker(landed, { base: vault, orderId: orderId(order), owner: vault })) return false;
	const amount = await receivedBy(landed, { owner: recipient, token: order.outputToken });
	if (amount < order.minOutput) return false;
	return isPlainPayout(landed, { deployment: chain.deployment, order, amount });
}
