import type { StatusResponse } from "@geoswap/protocol";
import { type Answer, answerOf } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { requestWithPause } from "./request.ts";

export type Swap = Answer<StatusResponse>;

/** Returns the swap's state once it is terminal, or after about 15 seconds; `waitSeconds` (0 to 15) shortens that. */
export async function getStatus(
	client: Client,
	swapId: string,
	options: { waitSeconds?: number; signal?: AbortSignal | undefined } = {},
): Promise<Swap> {
	return (await getStatusWithPause(client, swapId, options)).answer;
}

/** Like `getStatus`, with the pause that the service requests if the key may hold no further call now. */
export async function getStatusWithPause(
	client: Client,
	swapId: string,
	{ waitSeconds, signal }: { waitSeconds?: number; signal?: AbortSignal | undefined },
): Promise<{ answer: Swap; retryAfterMs: number | undefined }> {
	const { answer, retryAfterMs } = await requestWithPause<StatusResponse>(client, {
		path: `/swap/status/${encodeURIComponent(swapId)}`,
		query: { wait: waitSeconds },
		signal,
	});
	return { answer: answerOf(answer), retryAfterMs };
}
