import type { Milliseconds, Order } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import type { DenyList } from "../deny/deny-list.ts";
import type { Desk } from "../desk/desk.ts";
import type { RefundWorth } from "../desk/refund-worth.ts";
import type { Engine, PreparedPoke } from "../durable/engine.ts";
import { pokeAtOnce, roundTarget } from "../durable/poke-targets.ts";
import { skipOverdue, type TrackedHandlers, trackHandlers } from "../durable/serve-durable.ts";
import type { LaneDeps } from "../lane/evm/lane.ts";
import { lanePoke } from "../lane/lane-poke.ts";
import { lanesByChain } from "../lane/lanes-by-chain.ts";
import type { AttesterClient } from "../round/attestation/attester-client.ts";
import { createAttestation } from "../round/attestation/create-attestation.ts";
import type { ChainPoke } from "../round/chain-poke.ts";
import { createRoundSlots } from "../round/create-round-slots.ts";
import { rebuildOrders } from "../round/rebuild/rebuild-orders.ts";
import { whyNotOurs } from "../round/rebuild/why-not-ours.ts";
import { createRound } from "../round/run-round.ts";
import { createCrossChecks } from "../round/second-provider/cross-checks.ts";
import type { RoundPoke } from "../round/write-plans.ts";
import { chainPolicy } from "../swap/decide/swap-policy.ts";
import type { Log } from "../telemetry/log.ts";
import type { SwapMetrics } from "../telemetry/swap-metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import type { LaneMetrics, TickMetrics } from "../telemetry/worker-metrics.ts";
import type { WorkerChain } from "./connect-worker-chains.ts";
import { createTick, overdueMs } from "./create-tick.ts";
import { readDueWork } from "./due-work.ts";

/** How long the first order of a list waits for others, because one set of signatures serves them all. */
const attestationWindowMs = 500;

export type HandlersOptions = {
	config: Config;
	chains: readonly WorkerChain[];
	pool: DatabasePool;
	engine: Engine;
	desk: Desk;
	attesters: readonly AttesterClient[];
	/** Absent if no address is denied. */
	denyList?: DenyList | undefined;
	/** Undefined while there is no price. */
	worthOf: (order: Order) => RefundWorth | undefined;
	tracer?: Tracer | undefined;
	/** Undefined if nothing is counted. */
	metrics?: { swaps: SwapMetrics; lanes: LaneMetrics; ticks: TickMetrics } | undefined;
	nowMs: () => Milliseconds;
	/** Returns a UUID for a list of signatures. */
	newId: () => string;
	log: Log;
};

export type WorkerHandlers = {
	handlers: TrackedHandlers;
	/** The engine for all other pokes. It does not wait, and skips handlers that a tick found overdue. */
	engine: Engine;
	/** To be called every second. */
	tick: () => Promise<void>;
	/** Creates swaps for orders that have none. To be called periodically. */
	rebuild: () => Promise<number>;
};

/**
 * Creates everything that a worker runs for swaps, except followers. Starts nothing, since the caller provides the
 * clock and the loops.
 */
export function createHandlers(options: HandlersOptions): WorkerHandlers {
	const { config, chains, pool, desk, attesters, tracer, metrics, nowMs, log } = options;
	const engine = skipOverdue(pokeAtOnce(options.engine, log), { nowMs });
	const chainsById = new Map(chains.map((chain) => [chain.chainId, chain]));

	const pokeLanes: ChainPoke = ({ chainId, nowMs: now }) => {
		const chain = chainsById.get(chainId);
		if (!chain) return [];
		const { relayers, isAnyLaneGood } = chain;
		const { bundleWindowMs } = chain.config;
		const groups = isAnyLaneGood ? [relayers] : relayers.map((relayer) => [relayer]);
		return groups.flatMap((group) => lanePoke({ chainId, relayers: group, bundleWindowMs, nowMs: now }));
	};
	const pokeAttestation: ChainPoke = ({ chainId, nowMs: now }) => {
		const key = String(chainId);
		const dedupeKey = `${key}:${Math.floor(now / attestationWindowMs)}`;
		return [{ target: { object: "attestation", key }, options: { delayMs: attestationWindowMs, dedupeKey } }];
	};
	const preparePokes = ({ who, chainId }: RoundPoke): PreparedPoke[] => {
		if (who === "second-provider") {
			return [{ target: { object: "crossCheck", key: String(chainId) }, options: {} }];
		}
		return (who === "lanes" ? pokeLanes : pokeAttestation)({ chainId, nowMs: nowMs() });
	};

	const ofLanes: LaneDeps = {
		pool,
		engine,
		freshMinimum: desk.freshMinimum,
		deliveryNow: desk.deliveryNow,
		tipNow: desk.tipNow,
		payments: {
			depositPolicyOf: (chainId) => chainPolicy(config, chainId),
			whyNotOurs: (job) => whyNotOurs(job, config),
			worthE18: desk.worthE18,
			fillMarginBps: config.limits.fillMarginBps,
		},
		denyList: options.denyList,
		nowMs,
		tracer,
		metrics: metrics?.lanes,
		log,
	};
	const handlers = trackHandlers({
		round: createRoundSlots({
			runRound: createRound({
				config,
				pool,
				desk,
				poke: async (pokes) => {
					for (const { target, options: how } of pokes.flatMap(preparePokes)) await engine.poke(target, how);
				},
				tracer,
				metrics: metrics?.swaps,
				nowMs,
				log,
			}),
			slots: config.worker.roundSlots,
			engine,
			nowMs,
		}),
		crossCheck: createCrossChecks({
			pool,
			secondProviders: async (chainId, deposit, needed) => {
				const ask = chainsById.get(chainId)?.askSecondProvider;
				if (!ask) throw new Error(`chain ${chainId} is not configured`);
				return ask(deposit, needed);
			},
			pokeRound: () => engine.poke(roundTarget),
			metrics: metrics?.swaps,
			nowMs,
			log,
		}),
		lane: lanesByChain(new Map(chains.map((chain) => [chain.chainId, chain.createLanes(ofLanes)])), { log }),
		attestation: createAttestation({
			config,
			pool,
			attesters,
			engine,
			lanePoke: pokeLanes,
			nowMs,
			newId: options.newId,
			log,
		}),
	});

	const tick = createTick({
		readDue: () => readDueWork(pool, { overdueMs }),
		lanes: chains.map(({ chainId, relayers, isAnyLaneGood }) => ({
			chainId,
			relayers,
			isAnyGood: isAnyLaneGood,
		})),
		engine,
		handlers,
		onRunHere: metrics?.ticks.ranHere,
		nowMs,
		log,
	});
	const { readSolanaOutcomes } = chains.find((chain) => chain.readSolanaOutcomes) ?? {};
	return {
		handlers,
		engine,
		tick: async () => {
			try {
				await tick();
				metrics?.ticks.ticked("done");
			} catch (error) {
				metrics?.ticks.ticked("failed");
				throw error;
			}
		},
		rebuild: async () => {
			for (const { chainId, findLostOrders } of chains) {
				await findLostOrders?.({ pool, nowMs, log }).catch((err: unknown) =>
					log.error({ chainId, err }, "orders that a restore has lost could not be searched; retrying"),
				);
			}
			return rebuildOrders({
				config,
				pool,
				engine,
				worthOf: options.worthOf,
				...(readSolanaOutcomes && { readSolanaOutcomes }),
				nowMs,
				log,
			});
		},
	};
}
