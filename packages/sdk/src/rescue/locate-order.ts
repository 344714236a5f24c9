import { type Order, unpackDeadlines } from "@geoswap/protocol";
import type { PublicClient } from "viem";
import { getBlock } from "viem/actions";
import { readEscrowState, readVaultState } from "../read-order-state.ts";

/** Where an order's money is, according to the chains. */
export type Whereabouts =
	/** The recipient has the output, and the service has the input. */
	| { place: "delivered" }
	/**
	 * The wallet got its input back. If the token refused the payment, the escrow keeps it as a credit. See
	 * `findCredits`.
	 */
	| { place: "refunded" }
	/** The escrow has the input. From `takeableAt` on, in unix seconds, anyone may send it back to the wallet. */
	| { place: "escrow"; takeableAt: bigint; isTakeable: boolean }
	/** The recipient has the output, but the service has not taken the input, which is no longer the wallet's. */
	| { place: "delivered-not-released" }
	/** The order is not open in this escrow. */
	| { place: "never-opened" };

/**
 * Returns where an order's money is. With a client of the destination it also finds a delivery that the escrow has not
 * recorded yet. Without one, such an order seems refundable.
 */
export async function locateOrder(
	client: PublicClient,
	{ order, destination }: { order: Order; destination?: PublicClient | undefined },
): Promise<Whereabouts> {
	const { timestamp, number: blockNumber } = await getBlock(client, { blockTag: "latest" });
	const state = await readEscrowState(client, order, { blockNumber });
	if (state === "released") return { place: "delivered" };
	if (state === "refunded") return { place: "refunded" };
	if (state !== "opened") return { place: "never-opened" };

	const isOneChain = order.destinationChainId === order.originChainId;
	const vaultClient = isOneChain ? client : destination;
	const vault = vaultClient && (await readVaultState(vaultClient, order));
	if (vault === "filled") return { place: "delivered-not-released" };
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	// If both are on one chain, the escrow reads the vault itself, and refunds once the vault cannot deliver any more.
	const voided = vault === "voided" ? timestamp : fillDeadline;
	const takeableAt = isOneChain && voided < refundAfter ? voided : refundAfter;
	return { place: "escrow", takeableAt, isTakeable: timestamp >= takeableAt };
}
