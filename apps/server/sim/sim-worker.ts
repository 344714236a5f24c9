import type { Order } from "@geoswap/protocol";
import type { Config } from "../src/config/config.ts";
import type { DatabasePool } from "../src/database/database.ts";
import type { Desk } from "../src/desk/desk.ts";
import type { RefundWorth } from "../src/desk/refund-worth.ts";
import { keepFollowing } from "../src/follow/keep-following.ts";
import type { WorkerChain } from "../src/process/connect-worker-chains.ts";
import { createHandlers } from "../src/process/create-handlers.ts";
import { type AttesterClient, pollHeartbeats } from "../src/round/attestation/attester-client.ts";
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
	chains: readonly WorkerChain[];
	pool: DatabasePool;
	engine: SimEngine;
	attesters: readonly AttesterClient[];
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
	const { process, config, chains, pool, attesters, scheduler, random, nowMs, log } = options;
	const { handlers, engine, tick, rebuild } = createHandlers({
		config,
		chains,
		pool,
		engine: options.engine.engineOf(process),
		desk: options.desk,
		attesters,
		worthOf: options.worthOf,
		nowMs,
		newId: options.newId,
		log,
	});
	options.engine.serve(process, handlers.handlers);

	for (const {
		chainId,
		config: { kind, pollMs },
		createFollower,
	} of chains) {
		// Nothing is new until the next block, and the follower reads that within one poll interval.
		const untilNews = () =>
			kind === "solana"
				? pollMs
				: pace.evm.blockMs - (scheduler.nowMs() % pace.evm.blockMs) + random.between(1, pollMs);
		void keepFollowing({
			chainId,
			pool,
			follower: createFollower({ pool, engine, nowMs, log }),
			pause: () => process.hear(scheduler.sleep(untilNews(), `${process.name} follows ${chainId}`)),
			// No process freezes here, so none has to send heartbeats.
			untilBeat: () => new Promise(() => {}),
			isStopped: () => !process.isAlive(),
			nowMs,
			log,
		});
	}
	void every(tickEveryMs, "tick", tick);
	void every(rebuildEveryMs, "rebuilding orders", rebuild);
	void every(heartbeatEveryMs, "heartbeats", () =>
		pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
	);

	async function every(ms: number, name: string, run: () => Promise<unknown>): Promise<void> {
		while (process.isAlive()) {
			await run().catch((error: unknown) => log.warn({ err: error }, `${name} failed; retrying`));
			await process.hear(scheduler.sleep(ms, `${process.name} ${name}`));
		}
	}
}
