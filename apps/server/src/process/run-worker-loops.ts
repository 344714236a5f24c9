import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership, type UntilBeat } from "../database/leadership.ts";
import { ensurePartitions } from "../database/migrate.ts";
import { laneTarget } from "../durable/poke-targets.ts";
import { followPause } from "../follow/follow-pause.ts";
import { keepFollowing } from "../follow/keep-following.ts";
import { hasOpenJobs } from "../job/queue-jobs.ts";
import { type PricedAsset, savePriceMarks } from "../money/profit/price-marks.ts";
import { type AttesterClient, pollHeartbeats } from "../round/attestation/attester-client.ts";
import { pruneEvents, publishEvents } from "../swap/event/publish-events.ts";
import type { Log } from "../telemetry/log.ts";
import type { FollowerMetrics } from "../telemetry/worker-metrics.ts";
import { runTreasury, type TreasuryDeps } from "../treasury/run-treasury.ts";
import type { Deliverer } from "../webhook/create-deliverer.ts";
import { queueDeliveries } from "../webhook/webhooks.ts";
import type { WorkerChain } from "./connect-worker-chains.ts";
import type { WorkerHandlers } from "./create-handlers.ts";

const tickEveryMs = 1_000;
const rebuildEveryMs = 10_000;
const marksEveryMs = 60_000;
const partitionsEveryMs = 3_600_000;
const ownAccountsEveryMs = 60_000;
/** Number of polls within the time for which a heartbeat counts. */
const heartbeatsPerLife = 5;
/** Maximum interval between polls, so that attesters that are back are noticed soon. */
const heartbeatEveryMs = 15_000;
const registeredEveryMs = 5_000;
/** Milliseconds within which another worker takes over from one that made plans. */
const plansTakeOverMs = 15_000;
/** Milliseconds within which another worker takes over from one that published events. */
const eventsTakeOverMs = 5_000;

/** Starts everything that a worker does by itself, until the signal aborts. Returns a promise for the end of each. */
export function runWorkerLoops({
	config,
	chains,
	pool,
	worker: { engine, tick, rebuild },
	wantPrices,
	priceCache,
	readTreasury,
	chainOf,
	referencePrices,
	attesters,
	webhooks,
	stay,
	followers,
	nowMs,
	signal,
	log,
}: {
	config: Config;
	chains: readonly WorkerChain[];
	pool: DatabasePool;
	worker: Pick<WorkerHandlers, "engine" | "tick" | "rebuild">;
	/** Requests prices of these chains. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	priceCache: TreasuryDeps["priceCache"];
	/** Reads caps and relayers of an EVM chain. */
	readTreasury: TreasuryDeps["readChain"];
	/** Returns the connection to an EVM chain; undefined if it is not configured. */
	chainOf: TreasuryDeps["chainOf"];
	/** Returns the reference price of each asset that has a live one. */
	referencePrices: () => PricedAsset[];
	attesters: readonly AttesterClient[];
	/** Undefined if the service has no webhooks. */
	webhooks: Deliverer | undefined;
	/** Registers the worker again if the engine has lost it. */
	stay: () => Promise<void>;
	followers: FollowerMetrics | undefined;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<unknown>[] {
	const wait = async (ms: number) => void (await sleep(ms, undefined, { signal }).catch(() => {}));

	async function every(ms: number, name: string, run: () => Promise<unknown>): Promise<void> {
		while (!signal.aborted) {
			await run().catch((error: unknown) => {
				if (!signal.aborted) log.warn({ err: error }, `${name} failed; retrying`);
			});
			await wait(ms);
		}
	}

	const heartbeatMs = Math.min(heartbeatEveryMs, (config.heartbeatSeconds * 1_000) / heartbeatsPerLife);
	return [
		...chains.map(({ chainId, config: { pollMs, finalitySeconds }, news, createFollower }) =>
			keepFollowing({
				chainId,
				pool,
				follower: createFollower({ pool, engine, nowMs, log }),
				pause: followPause({
					db: pool,
					chainId,
					pollMs,
					finalitySeconds,
					news,
					wait,
					isStopped: () => signal.aborted,
					nowMs,
				}),
				isStopped: () => signal.aborted,
				...(followers && { onLook: (outcome) => followers.looked(chainId, outcome) }),
				nowMs,
				log,
			}),
		),
		...chains.flatMap(({ chainId, findProblems }) =>
			findProblems
				? every(ownAccountsEveryMs, `checking the service's accounts on chain ${chainId}`, async () => {
						for (const problem of await findProblems()) log.error(problem);
					})
				: [],
		),
		every(registeredEveryMs, "keeping this worker registered", stay),
		every(tickEveryMs, "tick", tick),
		every(tickEveryMs, "looking whether prices are needed", async () => {
			if (await hasOpenJobs(pool)) await wantPrices(config.chains.map(({ chainId }) => chainId));
		}),
		every(marksEveryMs, "writing prices for the books", async () => {
			await wantPrices(config.chains.map(({ chainId }) => chainId));
			await savePriceMarks(pool, referencePrices());
		}),
		every(rebuildEveryMs, "rebuilding orders that have no swap", rebuild),
		every(heartbeatMs, "polling heartbeats", () =>
			pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
		),
		every(eventsTakeOverMs, "publishing events", () =>
			keepEvents({ config, pool, webhooks, wait, nowMs, signal }),
		),
		every(plansTakeOverMs, "planning moves of the inventory", () =>
			runTreasury({
				config,
				pool,
				priceCache,
				wantPrices,
				readChain: readTreasury,
				chainOf,
				pokeTreasurer: async (chainId) => {
					const treasurer = chains.find((chain) => chain.chainId === chainId)?.treasurer;
					if (treasurer) await engine.poke(laneTarget({ chainId, relayer: treasurer }));
				},
				wait,
				nowMs,
				signal,
				log,
			}),
		),
		every(partitionsEveryMs, "creating partitions", () => ensurePartitions(pool, { nowMs: nowMs() })),
	];
}

/** The maximum delay before an event is published. */
const publishEveryMs = 250;
const pruneEveryMs = 60_000;
const dayMs = 86_400_000;

/**
 * Publishes the events of swaps, serves webhooks and deletes old events, in one worker at a time, until the signal
 * aborts. Returns if another worker does it. Two concurrent workers would do no harm, because publishing locks the
 * head of the events.
 */
async function keepEvents({
	config: { events },
	pool,
	webhooks,
	wait,
	untilBeat,
	nowMs,
	signal,
}: {
	config: Pick<Config, "events">;
	pool: DatabasePool;
	/** Undefined if the service has no webhooks. */
	webhooks?: Deliverer | undefined;
	wait: (ms: Milliseconds) => Promise<void>;
	untilBeat?: UntilBeat;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
}): Promise<void> {
	await holdLeadership(pool, { name: "events", ...(untilBeat && { untilBeat }) }, async (isHeld) => {
		let prunedAtMs = Number.NEGATIVE_INFINITY;
		while (!signal.aborted && isHeld()) {
			while ((await publishEvents(pool)) > 0 && isHeld());
			if (webhooks) {
				await queueDeliveries(pool, { nowMs: nowMs() });
				await webhooks.deliverDue();
			}
			if (nowMs() - prunedAtMs >= pruneEveryMs) {
				const retentionMs = events.retentionDays * dayMs;
				while ((await pruneEvents(pool, { retentionMs, nowMs: nowMs() })) > 0 && isHeld());
				prunedAtMs = nowMs();
			}
			await wait(publishEveryMs);
		}
		// Deliveries in flight end before another worker may send the same.
		await webhooks?.idle();
	});
}
