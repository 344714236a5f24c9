import type { privateKeyToAccount } from "viem/accounts";
import type { DatabaseFault, WorldDatabase } from "./enter-world-database.ts";
import type { SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import type { Lie } from "./lie.ts";
import type { AttesterName, ChainName, ProcessName, ProviderName, WorkerName } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimChain } from "./sim-chain.ts";
import type { simConfig } from "./sim-config.ts";
import type { PokeFault, SimEngine } from "./sim-engine.ts";
import type { NodeFault, SimNode } from "./sim-node.ts";
import type { SimProcess } from "./sim-process.ts";
import type { SimWallets } from "./sim-wallets.ts";
import type { SimSolanaChain } from "./solana/create-sim-solana-chain.ts";
import type { WorldRecord } from "./world-record.ts";

/** The faults in force at this moment. `scheduleFaults` sets them. */
type Troubles = {
	rpc: (chain: ChainName, of: "workers" | "attesters", provider: ProviderName) => NodeFault;
	database: (worker: string) => DatabaseFault;
	pokes: () => PokeFault;
	isEngineDown: () => boolean;
	attester: (name: AttesterName) => "down" | "slow" | undefined;
	skewMs: Map<ProcessName, number>;
	holdBack: (chain: ChainName, transactionHash: string) => boolean;
	priceOffBps: number;
	/** The answers of the workers' nodes of EVM chains. */
	workerNodes: Lie;
	/** Workers that die as soon as a node has taken a transaction from them. */
	dieAtBroadcast: Set<string>;
};

/**
 * Everything in a simulated world: its chains, the service's processes, their callers, the faults in force, and what was
 * observed. All of it runs on one clock and draws from one seed.
 */
export type World = {
	scheduler: Scheduler;
	startMs: number;
	chains: Readonly<Record<ChainName, SimChain>>;
	evm: Readonly<Record<"east" | "west", SimEvmChain>>;
	solana: SimSolanaChain;
	relayers: Readonly<Record<"east" | "west", ReturnType<typeof privateKeyToAccount>[]>>;
	config: ReturnType<typeof simConfig>;
	database: WorldDatabase;
	engine: SimEngine;
	wallets: SimWallets;
	troubles: Troubles;
	random: SeededRandom;
	workers: Map<WorkerName, SimProcess>;
	startWorker: (name: WorkerName) => void;
	/** Returns a connection to a chain that is never wrong, for observers outside the world. */
	truth: (chain: ChainName) => SimNode;
	/** Signatures of attesters by order, each as `<attester> Release` or `<attester> Refund`. */
	signed: Map<string, Set<string>>;
	tell: (who: string, what: string) => void;
	figures: { calls: number; wallMs: number };
	trace: string[];
	record: WorldRecord;
	noteReorg: () => void;
	noteRestore: () => void;
	eventCount: () => number;
	/** True if strangers act in the world. Escrows and vaults may then hold more than anyone owns. */
	hasStrangers: boolean;
};

/** The time at which every world begins. */
export const worldStartMs = Date.UTC(2030, 0, 1, 12);

export const relayersPerChain = 2;
