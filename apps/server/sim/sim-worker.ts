import { type Order, toSolanaWord } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import type { EvmChain } from "../src/chain/evm/chain-client.ts";
import type { SolanaChain } from "../src/chain/solana/connect-solana.ts";
import { readMarkers } from "../src/chain/solana/read-markers.ts";
import type { SolanaKeys } from "../src/chain/solana/solana-keys.ts";
import type { Config } from "../src/config.ts";
import { advance } from "../src/follow/advance.ts";
import { advanceSolana } from "../src/follow/advance-solana.ts";
import { createLane } from "../src/lane/create-lane.ts";
import { createSolanaLane } from "../src/lane/create-solana-lane.ts";
import { lanePoke } from "../src/lane/lane-poke.ts";
import { lanesByChain } from "../src/lane/lanes-by-chain.ts";
import type { Log } from "../src/log.ts";
import type { DatabasePool } from "../src/store/database.ts";
import { holdLeadership } from "../src/store/leadership.ts";
import { createAttestation } from "../src/swap/attestation-object.ts";
import type { AttesterClient } from "../src/swap/attester-client.ts";
import { pollHeartbeats } from "../src/swap/poll-heartbeats.ts";
import { rebuildOrders } from "../src/swap/rebuild-orders.ts";
import type { SecondProviders } from "../src/swap/second-providers.ts";
import { type ChainPoke, createSwapWorkflow } from "../src/swap/swap-workflow.ts";
import { sweep } from "../src/swap/sweep.ts";
import type { RefundWorth } from "../src/venue/refund-worth.ts";
import type { Desk } from "../src/venue/venue.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { pace } from "./sim-config.ts";
import type { SimEngine } from "./sim-engine.ts";
import type { SimProcess } from "./sim-process.ts";

const sweepEveryMs = 10_000;
const heartbeatEveryMs = 20_000;
const attestationWindowMs = 500;

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

/** A worker as the service runs it, from the same parts, on the world's time. */
export function startSimWorker(options: SimWorkerOptions): void {
	const { process, config, chains, solana, pool, attesters, desk, scheduler, random, nowMs, log } = options;
	const engine = options.engine.engineOf(process);
	const solanaRelayers = solana.keys.feePayers.map(({ address }) => toSolanaWord(address));
	const policyOf = (chainId: number) => {
		const policy = config.chains.find((chain) => chain.chainId === chainId);
		if (!policy) throw new Error(`chain ${chainId} is not configured`);
		return policy;
	};
	const lanePokeOf: ChainPoke = ({ chainId, nowMs: now }) => {
		if (chainId === solana.chain.chainId) {
			const { bundleWindowMs = 50 } = config.solana ?? {};
			return solanaRelayers.flatMap((relayer) =>
				lanePoke({ chainId, relayers: [relayer], bundleWindowMs, nowMs: now }),
			);
		}
		const accounts = chains.find(({ chain }) => chain.chainId === chainId)?.accounts ?? [];
		const relayers = accounts.map(({ address }) => address);
		return lanePoke({ chainId, relayers, bundleWindowMs: policyOf(chainId).bundleWindowMs, nowMs: now });
	};
	const attestationPoke: ChainPoke = ({ chainId, nowMs: now }) => {
		const key = String(chainId);
		const dedupeKey = `${key}:${Math.floor(now / attestationWindowMs)}`;
		return [{ target: { object: "attestation", key }, options: { delayMs: attestationWindowMs, dedupeKey } }];
	};
	if (!config.solana) throw new Error("the world has Solana");

	options.engine.serve(process, {
		swap: createSwapWorkflow({
			config,
			pool,
			desk,
			lanePoke: lanePokeOf,
			attestationPoke,
			secondProviders: options.secondProviders,
			nowMs,
			log,
		}),
		lane: lanesByChain({
			evm: createLane({
				chains: chains.map(({ chain, accounts }) => ({ chain, accounts, policy: policyOf(chain.chainId) })),
				pool,
				engine,
				freshMinimum: desk.freshMinimum,
				nowMs,
				log,
			}),
			solana: createSolanaLane({
				chain: solana.chain,
				keys: solana.keys,
				policy: config.solana,
				pool,
				engine,
				nowMs,
				log,
			}),
		}),
		attestation: createAttestation({
			config,
			pool,
			attesters,
			lanePoke: lanePokeOf,
			nowMs,
			newId: options.newId,
			log,
		}),
	});

	for (const { chain, accounts } of chains) {
		const relayers = accounts.map(({ address }) => address);
		const { pollMs } = policyOf(chain.chainId);
		// Nothing is new until the next block, and then for a poll's time at most nobody has seen it.
		const untilNews = () =>
			pace.evm.blockMs - (scheduler.nowMs() % pace.evm.blockMs) + random.between(1, pollMs);
		void follow(chain.chainId, untilNews, () => advance({ chain, pool, engine, relayers, log, nowMs }));
	}
	const { outflowCaps, markerSeconds, pollMs } = config.solana;
	void follow(
		solana.chain.chainId,
		() => pollMs,
		async () => {
			await advanceSolana({
				...{ chain: solana.chain, pool, engine, relayers: solanaRelayers, outflowCaps, markerSeconds, log },
			});
			return false;
		},
	);
	void every(sweepEveryMs, "sweep", () => sweep({ db: pool, engine, nowMs: nowMs() }));
	void every(sweepEveryMs, "rebuilding orders", () =>
		rebuildOrders({
			...{ config, pool, engine, worthOf: options.worthOf, nowMs, log },
			markersOf: (orderIds) =>
				readMarkers(solana.chain, {
					...{ base: solana.chain.deployment.vault, orderIds, commitment: "finalized" },
				}),
		}),
	);
	void every(heartbeatEveryMs, "heartbeats", () =>
		pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
	);

	/** As `keepFollowing` does, on the world's time. */
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
