import type { QuoteRequestBody } from "@geoswap/protocol";
import { type Client, getQuote } from "@geoswap/sdk";
import { percentile } from "../measure/percentile.ts";
import { callEvenly } from "./keyed-load.ts";

export type QuoteTimes = { count: number; p50: number; p99: number };

/** Requests the same quote at a steady rate. Returns the durations in milliseconds. */
export async function timeQuotes(
	client: Client,
	intent: QuoteRequestBody,
	{ perSecond, durationMs }: { perSecond: number; durationMs: number },
): Promise<QuoteTimes> {
	const timesMs: number[] = [];
	await callEvenly({ perSecond, isOver: (elapsedMs) => elapsedMs > durationMs }, async () => {
		const startedAt = performance.now();
		await getQuote(client, intent);
		timesMs.push(performance.now() - startedAt);
	});
	return { count: timesMs.length, p50: percentile(timesMs, 50), p99: percentile(timesMs, 99) };
}
