import type { SwapUuid } from "@geoswap/protocol";
import type { Engine } from "../durable/durable.ts";
import type { Database } from "../store/database.ts";
import { readUnendedSwaps } from "../store/unended-swaps.ts";

/** A submit that is still under way starts its workflow itself. */
const minimumAgeMs = 5_000;
const pageSize = 500;
const atOnce = 20;

/** Starts the workflow of every swap that has not ended. Where it runs already, nothing happens. */
export async function sweep({
	db,
	engine,
	nowMs,
}: {
	db: Database;
	engine: Pick<Engine, "startSwap">;
	nowMs: number;
}): Promise<number> {
	let count = 0;
	let after: SwapUuid | undefined;
	while (true) {
		const page = await readUnendedSwaps(db, {
			createdBeforeMs: nowMs - minimumAgeMs,
			after,
			limit: pageSize,
		});
		for (let i = 0; i < page.length; i += atOnce) {
			await Promise.all(page.slice(i, i + atOnce).map((swapId) => engine.startSwap(swapId)));
		}
		count += page.length;
		if (page.length < pageSize) return count;
		after = page.at(-1);
	}
}
