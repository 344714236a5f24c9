import type { ChainsResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** The chains that swaps begin and end on. To be compared with pins, never to be pinned from. */
export function getChains(
	client: Client,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<ChainsResponse> {
	return request(client, { path: "/chains", signal });
}
