import type { TestChain } from "@geoswap/devnet";
import type { AuthorizationBody } from "@geoswap/protocol";
import type { Address, Hex, PrivateKeyAccount } from "viem";

/** Signs a new wallet's delegation to the service's delegate, or to other values if given. */
export async function signAuthorization(
	chain: TestChain,
	account: PrivateKeyAccount,
	{
		chainId = chain.chainId,
		address = chain.deployment.contracts.delegate,
		nonce = 0,
	}: { chainId?: number; address?: Address; nonce?: number } = {},
): Promise<AuthorizationBody & { r: Hex; s: Hex; yParity: number }> {
	const { r, s, yParity = 0 } = await account.signAuthorization({ chainId, address, nonce });
	return { chainId, address, nonce, yParity, r, s };
}
