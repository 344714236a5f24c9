import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import type { PriceBook } from "../desk/price/price-book.ts";
import type { Desk } from "../desk/venue.ts";
import { watchDatabase } from "../operate/watch/watch-database.ts";
import { watchPauses } from "../operate/watch/watch-pauses.ts";
import { watchPrices } from "../operate/watch/watch-prices.ts";
import { watchRelayers } from "../operate/watch/watch-relayers.ts";
import { readPauses } from "../swap/pause/pauses.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { WorkerChain, WorkerSolana } from "./create-pumps.ts";

const pausesMaxAgeMs = 5_000;

/** Publishes the metrics that only a worker has: its prices, the state of the store, its relayers' funds, pauses. */
export function watchWorker({
	meter,
	config,
	chains,
	solana,
	book,
	desk,
	db,
	nowMs,
}: {
	meter: Meter;
	config: Config;
	chains: readonly WorkerChain[];
	solana: WorkerSolana | undefined;
	book: PriceBook;
	desk: Desk;
	/** A pool apart from the one that swaps use. */
	db: DatabasePool;
	nowMs: () => number;
}): void {
	watchPrices({ meter, config, book, desk, nowMs });
	watchDatabase({ meter, config, db, nowMs });
	watchRelayers({ meter, chains, solana });
	watchPauses({ meter, config, read: () => readPauses(db), maxAgeMs: pausesMaxAgeMs });
}
