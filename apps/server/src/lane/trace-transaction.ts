import {
	formatAddress,
	formatTransactionHash,
	type Milliseconds,
	type SwapUuid,
	toSwapId,
} from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import type { LaneId, LaneTransaction } from "../job/journal/lane-transactions.ts";
import type { LaneDeps } from "./evm/lane.ts";

/**
 * Records a transaction in the trace of each swap that has a job in it; its hash is the same in all of them. Queries
 * the database only if tracing is on. Never rejects, because lanes do not wait for it, so as not to send late.
 */
export async function traceTransaction(
	{ tracer, pool, log, id: { chainId, relayer } }: Pick<LaneDeps, "tracer" | "pool" | "log"> & { id: LaneId },
	{ hash, nonce, attempt, kind, jobs }: LaneTransaction,
	what: {
		name: "transaction signed" | "transaction sent";
		startMs: Milliseconds;
		outcome?: string;
		isError?: boolean;
	},
): Promise<void> {
	if (!tracer || jobs.length === 0) return;
	const { name, startMs, outcome, isError = false } = what;
	const chain = BigInt(chainId);
	try {
		for (const { swapId, trace } of await readTraces(
			pool,
			jobs.map((job) => job.swapId),
		)) {
			tracer.record(name, {
				parent: trace,
				startMs,
				attributes: {
					swapId: toSwapId(swapId),
					chainId,
					hash: formatTransactionHash(chain, hash),
					relayer: formatAddress(chain, relayer),
					nonce,
					attempt,
					kind,
					bundled: jobs.length,
					...(outcome && { outcome }),
				},
				isError,
			});
		}
	} catch (err) {
		log.warn({ chainId, hash, err }, "a transaction could not be traced");
	}
}

/** Reads the traces of the swaps that have one. */
export async function readTraces(
	db: Database,
	swapIds: readonly SwapUuid[],
): Promise<{ swapId: SwapUuid; trace: string }[]> {
	const { rows } = await db.query<{ id: SwapUuid; trace: string }>({
		name: "read-traces",
		text: "select id, trace from swaps where id = any($1::uuid[]) and trace is not null",
		values: [swapIds],
	});
	return rows.map(({ id, trace }) => ({ swapId: id, trace }));
}
