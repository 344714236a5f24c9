import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi } from "@geoswap/protocol";
import type { Hex } from "viem";

const escrowStates = ["None", "Opened", "Released", "Refunded"] as const;
export type EscrowState = (typeof escrowStates)[number];

/** Returns the state of an order in the escrow. */
export async function escrowState(
	{ publicClient, deployment }: TestChain,
	orderId: string,
): Promise<EscrowState | undefined> {
	const state = await publicClient.readContract({
		address: deployment.contracts.escrow,
		abi: geoEscrowAbi,
		functionName: "orderState",
		args: [orderId as Hex],
	});
	return escrowStates[state];
}
