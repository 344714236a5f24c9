import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { DepositSight, ToldDeposit } from "../chain/deposit-sight.ts";
import type { HeadNews } from "../chain/node-pool/watch-heads.ts";
import type { NeededDepth } from "../chain/request-two-hosts.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import type { DatabasePool } from "../database/database.ts";
import type { Engine, Handler } from "../durable/engine.ts";
import type { Follower } from "../follow/keep-following.ts";
import type { LaneDeps } from "../lane/evm/lane.ts";
import type { LostOrderSearch } from "../round/rebuild/find-lost-orders.ts";
import type { SolanaOutcome } from "../round/rebuild/rebuild-orders.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Everything that a worker runs for one chain. Lanes and followers differ by the kind of chain, but code that runs
 * them need not distinguish the kinds.
 */
export type WorkerChain = {
	chainId: number;
	config: ChainConfig;
	/** The accounts that send transactions, in the form of the store. Each has a separate lane. */
	relayers: readonly Hex[];
	/** True if every lane can do every job. On Solana an op names its fee payer, and no other lane can send it. */
	isAnyLaneGood: boolean;
	/** Notifications of the chain's blocks. Absent if no node is subscribed to. */
	news?: HeadNews | undefined;
	createLanes: (deps: LaneDeps) => Handler;
	createFollower: (deps: {
		pool: DatabasePool;
		engine: Engine;
		nowMs: () => Milliseconds;
		log: Log;
	}) => Follower;
	/** Cross-checks a deposit with two providers. Throws if no two answer. */
	askSecondProvider: (deposit: ToldDeposit, needed: NeededDepth) => Promise<DepositSight>;
	/** Reads the relayers' balances of the native token, by address in the chain's notation. */
	readBalances: () => Promise<{ relayer: string; balance: bigint }[]>;
	/** Returns whether the vault's contract is paused. Absent where there is no such contract. */
	isVaultPaused?: () => Promise<boolean>;
	/** Returns what is wrong with the service's own accounts, in sentences. Absent where nothing can be wrong. */
	findProblems?: () => Promise<string[]>;
	/** Reads the outcomes of orders to Solana at a final slot. Absent on EVM chains, whose events show them. */
	readSolanaOutcomes?: (orderIds: readonly Hex[]) => Promise<SolanaOutcome[]>;
	/** Stores orders whose swaps a restore has lost. Absent on EVM chains, whose followers find all orders. */
	findLostOrders?: LostOrderSearch;
};
