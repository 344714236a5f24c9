import type { SwapReceipt } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns the signed receipt of an ended swap. Check it with `verifyReceipt` before you rely on it. */
export function getReceipt(
	client: Client,
	swapId: string,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<SwapReceipt> {
	return request(client, { path: `/swaps/${encodeURIComponent(swapId)}/receipt`, query: {}, signal });
}
