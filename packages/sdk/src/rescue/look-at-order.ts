import { fromWord, geoEscrowAbi, geoVaultAbi, type Order, unpackDeadlines } from "@geoswap/protocol";
import type { Address, Hash, PublicClient } from "viem";
import { getBlock, readContract } from "viem/actions";

/** The place of an order's money, by what the chains say. */
export type Whereabouts =
	/** The recipient has the output, and the service has the input. */
	| { place: "delivered" }
	/** The wallet was given its input back. If the token refused the payment, the escrow owes it: see `findCredits`. */
	| { place: "refunded" }
	/** The escrow has the input. From `takeableAt` on, in unix seconds, anyone may send it back to the wallet. */
	| { place: "escrow"; takeableAt: bigint; isTakeable: boolean }
	/** The recipient has the output, but the service has not taken the input yet. The input is not the wallet's any more. */
	| { place: "delivered-not-released" }
	/** The order is not open in this escrow. */
	| { place: "never-opened" };

const escrowStates = ["none", "opened", "released", "refunded"] as const;
const vaultStates = ["none", "filled", "voided"] as const;

/**
 * Says where an order's money is. With a client of the destination it also knows of a delivery that the escrow does not
 * know of yet; without one, such an order looks as if it could be taken back.
 */
export async function lookAtOrder(
	client: PublicClient,
	{
		order,
		orderId,
		escrow,
		destination,
	}: { order: Order; orderId: Hash; escrow: Address; destination?: PublicClient | undefined },
): Promise<Whereabouts> {
	const { timestamp, number: blockNumber } = await getBlock(client, { blockTag: "latest" });
	const state =
		escrowStates[
			await readContract(client, {
				address: escrow,
				abi: geoEscrowAbi,
				functionName: "orderState",
				args: [orderId],
				blockNumber,
			})
		];
	if (state === "released") return { place: "delivered" };
	if (state === "refunded") return { place: "refunded" };
	if (state !== "opened") return { place: "never-opened" };

	const isOneChain = order.destinationChainId === order.originChainId;
	const vaultClient = isOneChain ? client : destination;
	const vault = vaultClient && (await readVaultState(vaultClient, { order, orderId }));
	if (vault === "filled") return { place: "delivered-not-released" };
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	// On one chain the escrow asks the vault itself, and refunds as soon as the vault cannot deliver any more.
	const voided = vault === "voided" ? timestamp : fillDeadline;
	const takeableAt = isOneChain && voided < refundAfter ? voided : refundAfter;
	return { place: "escrow", takeableAt, isTakeable: timestamp >= takeableAt };
}

async function readVaultState(
	client: PublicClient,
	{ order, orderId }: { order: Order; orderId: Hash },
): Promise<(typeof vaultStates)[number] | undefined> {
	const state = await readContract(client, {
		address: fromWord(order.destinationVault),
		abi: geoVaultAbi,
		functionName: "orderState",
		args: [orderId],
	});
	return vaultStates[state];
}
