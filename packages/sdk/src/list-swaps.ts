import type { SwapStatus, SwapsResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/**
 * Returns a page of the account's swaps, newest first. `cursor` is `nextCursor` of the page before, with the same
 * `status`. A page may hold fewer than `limit`, or none; the last one has no `nextCursor`.
 */
export function listSwaps(
	client: Client,
	{
		signal,
		...query
	}: { limit?: number; cursor?: string; status?: SwapStatus; signal?: AbortSignal | undefined } = {},
): Promise<SwapsResponse> {
	return request(client, { path: "/swaps", query, signal });
}
