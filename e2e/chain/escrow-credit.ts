import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi } from "@geoswap/protocol";
import type { Address } from "viem";

/** Returns the amount that the escrow owes a beneficiary because it could not pay. */
export function escrowCredit(
	{ publicClient, deployment }: TestChain,
	token: Address,
	beneficiary: Address,
): Promise<bigint> {
	return publicClient.readContract({
		address: deployment.contracts.escrow,
		abi: geoEscrowAbi,
		functionName: "credit",
		args: [token, beneficiary],
	});
}
