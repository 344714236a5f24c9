import type { TestChain } from "@geoswap/devnet";
import { type Address, erc20Abi, zeroAddress } from "viem";

/** Returns an owner's balance of a token on a chain. The zero address is the native token. */
export function tokenBalance({ publicClient }: TestChain, token: Address, owner: Address): Promise<bigint> {
	if (token === zeroAddress) return publicClient.getBalance({ address: owner });
	return publicClient.readContract({
		address: token,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [owner],
	});
}
