import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import { pauseChain } from "../swap/pause/pauses.ts";
import type { Log } from "../telemetry/log.ts";
import type { FinalityBrokenError } from "./evm/undo-blocks.ts";

/** Pauses sales from and to the chain, and logs that once, regardless of how often the break is found. */
export async function pauseOnBrokenFinality({
	db,
	chainId,
	error,
	log,
	nowMs,
}: {
	db: Database;
	chainId: number;
	error: FinalityBrokenError;
	log: Log;
	nowMs: Milliseconds;
}): Promise<void> {
	const reason = `${error.message}; its blocks are not processed until an operator lifts the pause`;
	const isNew = await pauseChain(db, { chainId, cause: "finality", reason, nowMs });
	if (isNew) log.error({ chainId, err: error }, "the chain dropped a final block and is paused");
}
