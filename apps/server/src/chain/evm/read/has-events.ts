import { BaseError, RpcRequestError } from "viem";
import type { EvmChain } from "../chain-client.ts";
import { ourContracts } from "../our-contracts.ts";

/**
 * Returns whether our contracts have events in a range of blocks. If the node refuses so long a range, asks for halves,
 * down to one block. The answer may come from another fork: the caller must check that the chain still has its blocks.
 */
export async function hasEvents(
	chain: EvmChain,
	{ from, to }: { from: number; to: number },
): Promise<boolean> {
	const { escrows, vaults } = ourContracts(chain.deployment);
	try {
		const logs = await chain.client.getLogs({
			address: [...escrows, ...vaults],
			fromBlock: BigInt(from),
			toBlock: BigInt(to),
		});
		return logs.length > 0;
	} catch (error) {
		const isRefused = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
		if (!isRefused || from === to) throw error;
		const middle = Math.floor((from + to) / 2);
		return (
			(await hasEvents(chain, { from, to: middle })) || (await hasEvents(chain, { from: middle + 1, to }))
		);
	}
}
