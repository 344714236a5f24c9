import type { Milliseconds } from "@geoswap/protocol";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { Config } from "../../config/config.ts";
import { configBook } from "../../desk/price/config-book.ts";
import type { TimedRequest } from "./generate-requests.ts";
import type { Holding, JournalLine, ShadowTerms } from "./journal.ts";
import { createShadowDay } from "./shadow-day.ts";
import type { ShadowReport } from "./shadow-report.ts";

/** A day's prices and requests, and the terms that its result depends on. */
export type RecordedDay = {
	config: Pick<Config, "chains" | "price" | "limits">;
	prices: Iterable<{ atMs: Milliseconds; prices: BlockPrices }>;
	requests: Iterable<TimedRequest>;
	stock: readonly Holding[];
	terms: ShadowTerms;
	seed: string;
	source: string;
	startMs: Milliseconds;
	endMs: Milliseconds;
};

/** Plays a day whose prices are recorded, as fast as it goes. Prices come before requests of the same moment. */
export function runRecordedDay(
	{ config, prices, requests, endMs, ...day }: RecordedDay,
	{ write }: { write: (line: JournalLine) => void },
): ShadowReport {
	const book = configBook(config);
	const shadow = createShadowDay({ ...day, config, book, write });
	const asking = requests[Symbol.iterator]();
	let next = asking.next();
	for (const { atMs, prices: block } of prices) {
		if (atMs > endMs) break;
		askUntil(atMs);
		shadow.prices(block, atMs);
	}
	askUntil(endMs + 1);
	asking.return?.();
	return shadow.end(endMs);

	function askUntil(atMs: Milliseconds): void {
		while (!next.done && next.value.atMs < atMs) {
			shadow.request(next.value.request(book), next.value.atMs);
			next = asking.next();
		}
	}
}
