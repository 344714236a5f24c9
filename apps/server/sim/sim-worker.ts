import { type Order, toSolanaWord } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import type { EvmChain } from "../src/chain/evm/chain-client.ts";
import type { SolanaChain } from "../src/chain/solana/connect-solana.ts";
import type { SolanaKeys } from "../src/chain/solana/send/solana-keys.ts";
import type { Config } from "../src/config/config.ts";
import type { DatabasePool } from "../src/database/database.ts";
import { holdLeadership } from "../src/database/leadership.ts";
import type { RefundWorth } from "../src/desk/refund-worth.ts";
import type { Desk } from "../src/desk/venue.ts";
import { advance } from "../src/follow/evm/advance.ts";
import { advanceSolana } from "../src/follow/solana/advance-solana.ts";
import { createPumps } from "../src/process/create-pumps.ts";
import type { AttesterClient } from "../src/round/attestation/attester-client.ts";
import { pollHeartbeats } from "../src/round/attestation/poll-heartbeats.ts";
import type { SecondProviders } from "../src/round/second-provider/second-providers.ts";
import type { Log } from "../src/telemetry/log.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { pace } from "./sim-config.ts";
import type { SimEngine } from "./sim-engine.ts";
import type { SimProcess } from "./sim-process.ts";

const tickEveryMs = 1_000;
const rebuildEveryMs = 10_000;
const heartbeatEveryMs = 20_000;

export type SimWorkerOptions = {
	process: SimProcess;
	config: Config;
	chains: readonly { chain: EvmChain; accounts: readonly LocalAccount[] }[];
	solana: { chain: SolanaChain; keys: SolanaKeys };
	pool: DatabasePool;
	engine: SimEngine;
	attesters: readonly AttesterClient[];
	secondProviders: SecondProviders;
	worthOf: (order: Order) => RefundWorth | undefined;
	desk: Desk;
	scheduler: Scheduler;
	random: SeededRandom;
	nowMs: () => number;
	newId: () => string;
	log: Log;
};

/** Starts a worker that is wired by the service's own code, on the world's time. */
export function startSimWorker(options: SimWorkerOptions): void {
	const { process, config, pool, attesters, scheduler, random, nowMs, log } = options;
	if (!config.solana) throw new Error("the world has Solana");
	const relayers = options.solana.keys.feePayers.map(({ address }) => toSolanaWord(address));
	const solana = { ...options.solana, config: config.solana, relayers };
	const chains = options.chains.map(({ chain, accounts }) => {
		const ofChain = config.chains.find(({ chainId }) => chainId === chain.chainId);
		if (!ofChain) throw new Error(`chain ${chain.chainId} is not configured`);
		return { chain, accounts, config: ofChain };
	});
	const { pumps, engine, tick, rebuild } = createPumps({
		config,
		chains,
		solana,
		pool,
		engine: options.engine.engineOf(process),
		desk: options.desk,
		attesters,
		secondProviders: options.secondProviders,
		worthOf: options.worthOf,
		nowMs,
		newId: options.newId,
		log,
	});
	options.engine.serve(process, pumps.pumps);

	for (const {
		chain,
		accounts,
		config: { pollMs },
	} of chains) {
		const addresses = accounts.map(({ address }) => address);
		// Nothing is new until the next block, and the follower sees that within one poll interval.
		const untilNews = () =>
			pace.evm.blockMs - (scheduler.nowMs() % pace.evm.blockMs) + random.between(1, pollMs);
		void follow(chain.chainId, untilNews, () =>
			advance({ chain, pool, engine, relayers: addresses, log, nowMs }),
		);
	}
	const { outflowCaps, markerSeconds, pollMs } = solana.config;
	void follow(
		solana.chain.chainId,
		() => pollMs,
		async () => {
			await advanceSolana({ chain: solana.chain, pool, engine, relayers, outflowCaps, markerSeconds, log });
			return false;
		},
	);
	void every(tickEveryMs, "tick", tick);
	void every(rebuildEveryMs, "rebuilding orders", rebuild);
	void every(heartbeatEveryMs, "heartbeats", () =>
		pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
	);

	/** Follows a chain as `keepFollowing` does, on the world's time. */
	async function follow(chainId: number, pauseMs: () => number, look: () => Promise<boolean>): Promise<void> {
		const pause = () => process.hear(scheduler.sleep(pauseMs(), `${process.name} follows ${chainId}`));
		while (process.isAlive()) {
			try {
				await holdLeadership(pool, { name: `follow:${chainId}` }, async (isHeld) => {
					while (process.isAlive() && isHeld()) if (!(await look())) await pause();
				});
			} catch (error) {
				log.error({ chainId, err: error }, "following the chain failed; it is tried again");
			}
			await pause();
		}
	}

	async function every(ms: number, name: string, run: () => Promise<unknown>): Promise<void> {
		while (process.isAlive()) {
			await run().catch((error: unknown) => log.warn({ err: error }, `${name} failed; it is tried again`));
			await process.hear(scheduler.sleep(ms, `${process.name} ${name}`));
		}
	}
}
