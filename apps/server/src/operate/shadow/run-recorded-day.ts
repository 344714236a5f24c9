import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import type { PriceNews } from "../../desk/price/price-news.ts";
import type { TimedRequest } from "./generate-requests.ts";
import type { Holding, JournalLine, ShadowTerms } from "./journal.ts";
import { createShadowDay } from "./shadow-day.ts";
import type { ShadowReport } from "./shadow-report.ts";

/** A day's prices and requests, and the terms that its result depends on. */
export type RecordedDay = {
	config: Pick<Config, "chains" | "price" | "limits">;
	prices: Iterable<PriceNews & { atMs: Milliseconds }>;
	requests: Iterable<TimedRequest>;
	inventory: readonly Holding[];
	terms: ShadowTerms;
	seed: string;
	source: string;
	startMs: Milliseconds;
	endMs: Milliseconds;
};

/** Plays a day with recorded prices, without waiting. Prices come before requests of the same moment. */
export function runRecordedDay(
	{ config, prices, requests, endMs, ...day }: RecordedDay,
	{ write }: { write: (line: JournalLine) => void },
): ShadowReport {
	const shadow = createShadowDay({ ...day, config, write });
	const asking = requests[Symbol.iterator]();
	let next = asking.next();
	for (const { atMs, ...news } of prices) {
		if (atMs > endMs) break;
		retryUntil(atMs);
		shadow.learn(news, atMs);
	}
	retryUntil(endMs + 1);
	asking.return?.();
	return shadow.end(endMs);

	function retryUntil(atMs: Milliseconds): void {
		while (!next.done && next.value.atMs < atMs) {
			shadow.request(next.value.request(shadow.priceCache), next.value.atMs);
			next = asking.next();
		}
	}
}
