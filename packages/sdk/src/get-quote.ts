import type { QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Prices a swap. The quote expires after 30 seconds; do not keep it. */
export function getQuote(
	client: Client,
	quoteRequest: QuoteRequestBody,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<QuoteResponse> {
	return request(client, { path: "/swap/quote", body: quoteRequest, signal });
}
