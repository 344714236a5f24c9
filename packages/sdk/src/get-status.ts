import type { StatusResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** The swap's state, once it is terminal or after about 15 seconds; `waitSeconds` (0 to 15) shortens that. */
export function getStatus(
	client: Client,
	swapId: string,
	{ waitSeconds, signal }: { waitSeconds?: number; signal?: AbortSignal | undefined } = {},
): Promise<StatusResponse> {
	return request(client, {
		path: `/swap/status/${encodeURIComponent(swapId)}`,
		query: waitSeconds === undefined ? {} : { wait: waitSeconds },
		signal,
	});
}
