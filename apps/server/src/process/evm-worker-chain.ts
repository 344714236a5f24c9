import { formatAddress, geoVaultAbi } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { readDeposit } from "../chain/evm/read/read-deposit.ts";
import { requestTwoHosts } from "../chain/request-two-hosts.ts";
import type { EvmChainConfig } from "../config/chain-config.ts";
import { evmFollower } from "../follow/evm/evm-follower.ts";
import { createLane } from "../lane/evm/create-lane.ts";
import type { WorkerChain } from "./worker-chain.ts";

/** Returns everything that a worker runs for an EVM chain. */
export function evmWorkerChain({
	config,
	chain,
	accounts,
	agreeing,
}: {
	config: EvmChainConfig;
	chain: EvmChain;
	/** The accounts that send transactions. */
	accounts: readonly LocalAccount[];
	/** The same chain at each provider that cross-checks large deposits, without failover. */
	agreeing: readonly { host: string; chain: EvmChain }[];
}): WorkerChain {
	const { chainId, client } = chain;
	const relayers = accounts.map(({ address }) => address);
	return {
		chainId,
		config,
		relayers,
		isAnyLaneGood: true,
		news: chain.news,
		createLanes: (deps) => createLane({ ...deps, chain, policy: config, accounts }),
		createFollower: (deps) => evmFollower({ ...deps, chain, relayers }),
		askSecondProvider: (deposit, needed) =>
			requestTwoHosts(
				agreeing.map(({ host, chain: at }) => ({ host, see: (asked) => readDeposit(at, asked) })),
				deposit,
				needed,
			),
		isVaultPaused: () =>
			client.readContract({
				address: chain.deployment.contracts.vault,
				abi: geoVaultAbi,
				functionName: "paused",
			}),
		readBalances: () =>
			Promise.all(
				relayers.map(async (address) => ({
					relayer: formatAddress(chainId, address),
					balance: await client.getBalance({ address }),
				})),
			),
	};
}
