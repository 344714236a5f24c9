import type { Milliseconds } from "@geoswap/protocol";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership, type UntilBeat } from "../database/leadership.ts";
import type { Log } from "../telemetry/log.ts";
import { FinalityBrokenError } from "./evm/undo-blocks.ts";
import { pauseOnBrokenFinality } from "./pause-on-broken-finality.ts";

/** Creates the function that advances while this process leads. It returns whether more may be ready immediately. */
export type Follower = () => () => Promise<boolean>;

/**
 * Advances along a chain until it is stopped. Of all processes that run this, only the leader advances; when it ends,
 * another one continues from there.
 */
export async function keepFollowing({
	chainId,
	pool,
	follower,
	pause,
	untilBeat,
	isStopped,
	onLook = () => {},
	nowMs,
	log,
}: {
	chainId: number;
	pool: DatabasePool;
	follower: Follower;
	/** Waits until the chain may have something new. Must not throw. */
	pause: () => Promise<void>;
	/** Waits until the leader must show again that it is alive. By the clock, unless it is given. */
	untilBeat?: UntilBeat;
	isStopped: () => boolean;
	/** Called after each read of the chain, by the leader only. */
	onLook?: (outcome: "ok" | "failed") => void;
	nowMs: () => Milliseconds;
	log: Log;
}): Promise<void> {
	while (!isStopped()) {
		try {
			const name = `follow:${chainId}`;
			await holdLeadership(pool, { name, ...(untilBeat && { untilBeat }) }, async (isHeld) => {
				log.info({ chainId }, "following the chain");
				const advance = follower();
				while (!isStopped() && isHeld()) {
					const isMore = await advance().catch((error: unknown) => {
						onLook("failed");
						throw error;
					});
					onLook("ok");
					if (!isMore) await pause();
				}
			});
		} catch (error) {
			await tell(error).catch((err: unknown) => log.error({ chainId, err }, "the chain could not be paused"));
		}
		await pause();
	}

	async function tell(error: unknown): Promise<void> {
		if (error instanceof FinalityBrokenError) {
			await pauseOnBrokenFinality({ db: pool, chainId, error, log, nowMs: nowMs() });
		} else {
			log.error({ chainId, err: error }, "following the chain failed; retrying");
		}
	}
}
