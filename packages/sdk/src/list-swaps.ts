import type { SwapStatus, SwapsResponse } from "@geoswap/protocol";
import { type Answer, answerOf } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

export type SwapPage = Answer<SwapsResponse>;

export type ListSwapsOptions = {
	/** 1 to 100; 20 if not given. */
	limit?: number;
	/** `nextCursor` of the previous page. Use it with the same filters. */
	cursor?: string;
	status?: SwapStatus;
	/** The origin wallet. */
	wallet?: string;
	/** Only swaps quoted at this time or later, in ISO 8601 with a time zone. */
	from?: string;
	/** Only swaps quoted before this time. */
	to?: string;
	signal?: AbortSignal | undefined;
};

/**
 * Returns a page of the account's swaps, newest first. A page may hold fewer than `limit`, or none; the last one has no `nextCursor`.
 */
export async function listSwaps(
	client: Client,
	{ signal, ...query }: ListSwapsOptions = {},
): Promise<SwapPage> {
	return answerOf(await request<SwapsResponse>(client, { path: "/swaps", query, signal }));
}
