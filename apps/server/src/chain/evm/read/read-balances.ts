import { type Address, erc20Abi, getChainContractAddress, multicall3Abi, zeroAddress } from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** Reads the holders' total balance of each token, at one block. The zero address is the native token. */
export async function readBalances(
	chain: EvmChain,
	{
		holders,
		tokens,
		blockNumber,
	}: { holders: readonly Address[]; tokens: readonly Address[]; blockNumber: number },
): Promise<bigint[]> {
	const read = await chain.client.multicall({
		allowFailure: false,
		batchSize: 0,
		blockNumber: BigInt(blockNumber),
		contracts: tokens.flatMap((token) => holders.map((holder) => balanceCall(chain, { token, holder }))),
	});
	return tokens.map((_, i) =>
		read.slice(i * holders.length, (i + 1) * holders.length).reduce((sum, balance) => sum + balance, 0n),
	);
}

/** Returns the item of a multicall that reads one balance. */
export function balanceCall({ client }: EvmChain, { token, holder }: { token: Address; holder: Address }) {
	if (token !== zeroAddress) {
		return { address: token, abi: erc20Abi, functionName: "balanceOf" as const, args: [holder] as const };
	}
	const address = getChainContractAddress({ chain: client.chain, contract: "multicall3" });
	return { address, abi: multicall3Abi, functionName: "getEthBalance" as const, args: [holder] as const };
}
