import type { StatusResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { requestWithPause } from "./request.ts";

/** Returns the swap's state once it is terminal, or after about 15 seconds; `waitSeconds` (0 to 15) shortens that. */
export async function getStatus(
	client: Client,
	swapId: string,
	options: { waitSeconds?: number; signal?: AbortSignal | undefined } = {},
): Promise<StatusResponse> {
	return (await getStatusWithPause(client, swapId, options)).answer;
}

/** Like `getStatus`, with the pause that the service requests if the key may hold no further call now. */
export function getStatusWithPause(
	client: Client,
	swapId: string,
	{ waitSeconds, signal }: { waitSeconds?: number; signal?: AbortSignal | undefined },
): Promise<{ answer: StatusResponse; retryAfterMs: number | undefined }> {
	return requestWithPause(client, {
		path: `/swap/status/${encodeURIComponent(swapId)}`,
		query: waitSeconds === undefined ? {} : { wait: waitSeconds },
		signal,
	});
}
