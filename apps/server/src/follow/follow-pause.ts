import type { Milliseconds, Seconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import { isInNoBlock } from "../job/journal/lane-transactions.ts";

/**
 * The maximum pause between two reads of a chain that no swap waits for. Reorgs and finality are noticed at most this
 * much later. A deposit that was not submitted may take 15 s more, since the newest blocks are then left for a later
 * read.
 */
const idleMs = 10_000;
/** Pause while a swap is open that has nothing in flight, because its wallet may send a transaction by itself. */
const openMs = 2_000;
/** Reads within the time in which a block becomes final, while a swap waits for that alone. */
const looksPerFinality = 10;

/** The reasons of swaps to read a chain often. */
export type ChainDemand = {
	/** True if one of our transactions is in flight, or a swap waits for the next blocks. */
	isBusy: boolean;
	/** True if a swap waits for a block to become final. */
	isWaitedFor: boolean;
	/** True if a swap, on any chain, waits for no particular block. Anyone may act on its order at any time. */
	hasOpen: boolean;
};

/** Reads from the store whether swaps need a chain to be read often. */
export async function readDemand(db: Database, chainId: number): Promise<ChainDemand> {
	const { rows } = await db.query<ChainDemand>({
		name: "read-demand",
		text: `select exists (select from jobs where chain_id = $1 and state in ('queued', 'sent'))
				or exists (select from lane_transactions as open
					where chain_id = $1 and state in ('signed', 'broadcast') and ${isInNoBlock})
				or exists (select from waits where head_chain_id = $1) as "isBusy",
			exists (select from waits where finalized_chain_id = $1) as "isWaitedFor",
			exists (select from waits where head_chain_id is null and finalized_chain_id is null) as "hasOpen"`,
		values: [chainId],
	});
	return rows[0] ?? { isBusy: true, isWaitedFor: false, hasOpen: false };
}

/** Returns how long to wait between two reads of a chain. */
export function lookEveryMs(
	{ isBusy, isWaitedFor, hasOpen }: ChainDemand,
	{ pollMs, finalitySeconds }: { pollMs: Milliseconds; finalitySeconds: Seconds },
): Milliseconds {
	if (isBusy) return pollMs;
	const finalityMs = (finalitySeconds * 1_000) / looksPerFinality;
	const wanted = Math.min(hasOpen ? openMs : idleMs, isWaitedFor ? finalityMs : idleMs);
	return Math.max(pollMs, wanted);
}

/**
 * Returns a pause for a follower, as long as the demand of swaps allows. The demand is read every `pollMs`, so that a
 * swap that begins meanwhile does not wait.
 */
export function followPause({
	db,
	chainId,
	pollMs,
	finalitySeconds,
	news,
	wait,
	isStopped,
	nowMs,
}: {
	db: Database;
	chainId: number;
	pollMs: Milliseconds;
	finalitySeconds: Seconds;
	/** News of the chain's blocks, if a node announces them. */
	news?: { told: () => number | undefined; seen: () => number } | undefined;
	/** Must not throw. */
	wait: (ms: Milliseconds) => Promise<void>;
	isStopped: () => boolean;
	nowMs: () => Milliseconds;
}): () => Promise<void> {
	return async () => {
		const startedMs = nowMs();
		const seen = news?.seen() ?? 0;
		// A node that announces each block need not be polled. It is still polled now and then, because its news may be
		// wrong.
		const isQuiet = () => {
			const told = news?.told();
			return told !== undefined && told <= seen && nowMs() - startedMs < idleMs;
		};
		do {
			await wait(pollMs);
			const demand = await readDemand(db, chainId).catch(() => undefined);
			// If the database does not answer, the follower will find out.
			const isDue = !demand || nowMs() - startedMs >= lookEveryMs(demand, { pollMs, finalitySeconds });
			if (isDue && !isQuiet()) return;
		} while (!isStopped());
	};
}
