import { setTimeout as sleep } from "node:timers/promises";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership } from "../database/leadership.ts";
import type { Log } from "../telemetry/log.ts";
import { FinalityBrokenError } from "./evm/undo-fork.ts";
import { pauseOnBrokenFinality } from "./pause-on-broken-finality.ts";

/**
 * Advances along a chain until the signal is aborted. Of all processes that run this, only the leader advances; when it
 * ends, another one continues from there.
 */
export async function keepFollowing({
	chainId,
	pool,
	follower,
	pollMs,
	log,
	signal,
}: {
	chainId: number;
	pool: DatabasePool;
	/** Creates the function that advances while this process leads. It returns whether there may be more at once. */
	follower: () => () => Promise<boolean>;
	pollMs: number;
	log: Log;
	signal: AbortSignal;
}): Promise<void> {
	while (!signal.aborted) {
		try {
			await holdLeadership(pool, { name: `follow:${chainId}` }, async (isHeld) => {
				log.info({ chainId }, "following the chain");
				const advance = follower();
				while (!signal.aborted && isHeld()) {
					if (!(await advance())) await pause();
				}
			});
		} catch (error) {
			await tell(error).catch((err: unknown) => log.error({ chainId, err }, "the chain could not be paused"));
		}
		await pause();
	}

	async function tell(error: unknown): Promise<void> {
		if (error instanceof FinalityBrokenError) {
			await pauseOnBrokenFinality({ db: pool, chainId, error, log, nowMs: Date.now() });
		} else {
			log.error({ chainId, err: error }, "following the chain failed; it is tried again");
		}
	}

	async function pause(): Promise<void> {
		await sleep(pollMs, undefined, { signal }).catch(() => {});
	}
}
