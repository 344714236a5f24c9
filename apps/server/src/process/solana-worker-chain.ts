import { toSolanaWord } from "@geoswap/protocol";
import { requestTwoHosts } from "../chain/request-two-hosts.ts";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { readRecords } from "../chain/solana/program/read-orders.ts";
import { checkOwnAccounts } from "../chain/solana/read/check-own-accounts.ts";
import { readSolanaDeposit } from "../chain/solana/read/read-solana-deposit.ts";
import type { SolanaKeys } from "../chain/solana/send/sign-instructions.ts";
import type { SolanaChainConfig } from "../config/chain-config.ts";
import { solanaFollower } from "../follow/solana/solana-follower.ts";
import { createSolanaLane } from "../lane/solana/create-solana-lane.ts";
import { createLostOrderSearch } from "../round/rebuild/find-lost-orders.ts";
import type { WorkerChain } from "./worker-chain.ts";

/** Returns everything that a worker runs for Solana. */
export function solanaWorkerChain({
	config,
	chain,
	keys,
	agreeing,
}: {
	config: SolanaChainConfig;
	chain: SolanaChain;
	/** All keys of the service there. */
	keys: SolanaKeys;
	/** The same chain at each provider that cross-checks large deposits, without failover. */
	agreeing: readonly { host: string; chain: SolanaChain }[];
}): WorkerChain {
	const feePayers = keys.feePayers.map(({ address }) => address);
	const relayers = feePayers.map(toSolanaWord);
	return {
		chainId: chain.chainId,
		config,
		relayers,
		isAnyLaneGood: false,
		createLanes: (deps) => createSolanaLane({ ...deps, chain, keys, policy: config }),
		createFollower: (deps) => solanaFollower({ ...deps, chain, relayers }),
		askSecondProvider: (deposit, needed) =>
			requestTwoHosts(
				agreeing.map(({ host, chain: at }) => ({ host, see: (asked) => readSolanaDeposit(at, asked) })),
				deposit,
				needed,
			),
		readBalances: () =>
			Promise.all(
				feePayers.map(async (address) => {
					const { value } = await chain.rpc.getBalance(address, { commitment: "confirmed" }).send();
					return { relayer: address, balance: value };
				}),
			),
		findProblems: () => checkOwnAccounts(chain),
		readSolanaOutcomes: async (orderIds) => {
			const records = await readRecords(chain, { orderIds, commitment: "finalized" });
			return records.map(({ record }) => record?.state ?? "none");
		},
		findLostOrders: createLostOrderSearch(chain),
	};
}
