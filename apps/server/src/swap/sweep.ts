import { firstSwapUuidAt, type SwapUuid } from "@geoswap/protocol";
import type { Engine } from "../durable/durable.ts";
import type { Database } from "../store/database.ts";
import { startAnew } from "../store/restart-swaps.ts";
import { readUnendedSwaps } from "../store/unended-swaps.ts";

/** A submit that is still under way starts its workflow itself. */
const minimumAgeMs = 5_000;
/**
 * What nobody has looked at by then is known to the engine as something that is over: a database that was restored had
 * forgotten the swap, and it was submitted again. Started once more under another name, at worst it is one too many.
 */
const unseenMs = 120_000;
const pageSize = 500;
const atOnce = 20;

/** Starts the workflow of every swap that has not ended, or of those since a moment. Where it runs already, nothing happens. */
export async function sweep({
	db,
	engine,
	nowMs,
	fromMs,
}: {
	db: Database;
	engine: Pick<Engine, "startSwap">;
	nowMs: number;
	/** When they were quoted. All of them are a look into each day's partition. */
	fromMs?: number | undefined;
}): Promise<number> {
	let count = 0;
	let after: SwapUuid | undefined = fromMs === undefined ? undefined : firstSwapUuidAt(fromMs);
	while (true) {
		const page = await readUnendedSwaps(db, {
			createdBeforeMs: nowMs - minimumAgeMs,
			after,
			limit: pageSize,
		});
		for (let i = 0; i < page.length; i += atOnce) {
			await Promise.all(
				page.slice(i, i + atOnce).map(async (swap) => {
					const isUnseen = swap.execution === undefined && nowMs - swap.createdAt.getTime() > unseenMs;
					const execution = isUnseen ? await startAnew(db, { swap, nowMs }) : (swap.execution ?? 0);
					await engine.startSwap(swap.id, execution);
				}),
			);
		}
		count += page.length;
		if (page.length < pageSize) return count;
		after = page.at(-1)?.id;
	}
}
