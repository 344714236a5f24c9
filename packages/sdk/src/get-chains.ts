import type { ChainsResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Returns the chains on which swaps begin and end. Compare them with pins; never take pins from them. */
export function getChains(
	client: Client,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<ChainsResponse> {
	return request(client, { path: "/chains", signal });
}
