import { formatAddress, geoVaultAbi } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import { askTwoHosts } from "../chain/ask-two-hosts.ts";
import type { EvmChain } from "../chain/evm/chain-client.ts";
import { seeDeposit } from "../chain/evm/read/see-deposit.ts";
import type { EvmChainConfig } from "../config/chain-config.ts";
import { evmFollower } from "../follow/evm/evm-follower.ts";
import { createLane } from "../lane/evm/create-lane.ts";
import type { WorkerChain } from "./worker-chain.ts";

/** Returns all that a worker runs for an EVM chain. */
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
	/** The same chain at each provider that is asked for large deposits, without failover. */
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
			askTwoHosts(
				agreeing.map(({ host, chain: at }) => ({ host, see: (asked) => seeDeposit(at, asked) })),
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
