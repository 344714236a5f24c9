import { formatAddress } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
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
	second,
}: {
	config: EvmChainConfig;
	chain: EvmChain;
	/** The accounts that send transactions. */
	accounts: readonly LocalAccount[];
	/** The same chain at its second provider. */
	second: EvmChain | undefined;
}): WorkerChain {
	const { chainId, client } = chain;
	const relayers = accounts.map(({ address }) => address);
	return {
		chainId,
		config,
		relayers,
		isAnyLaneGood: true,
		createLanes: (deps) => createLane({ ...deps, chain, policy: config, accounts }),
		createFollower: (deps) => evmFollower({ ...deps, chain, relayers }),
		askSecondProvider: second && ((deposit) => seeDeposit(second, deposit)),
		readBalances: () =>
			Promise.all(
				relayers.map(async (address) => ({
					relayer: formatAddress(chainId, address),
					balance: await client.getBalance({ address }),
				})),
			),
	};
}
