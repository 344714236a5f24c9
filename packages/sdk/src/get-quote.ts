import type { QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import { type Answer, answerOf } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

export type Quote = Answer<QuoteResponse>;

/** Prices a swap. The quote expires after 30 seconds; do not keep it. */
export async function getQuote(
	client: Client,
	quoteRequest: QuoteRequestBody,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Quote> {
	return answerOf(await request<QuoteResponse>(client, { path: "/swap/quote", body: quoteRequest, signal }));
}
