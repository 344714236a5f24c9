import type { SubmitResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";

/** Time limit of retries: not much longer than an op lives. */
const patienceMs = 60_000;

/**
 * Submits a signed op. If no answer came, or one that may change, the same bytes are sent again: one quote becomes
 * one swap however often it is submitted, while a new quote could become a second.
 */
export function submitOp(
	client: Client,
	{
		geoOpToken,
		signature,
		signal,
	}: { geoOpToken: string; signature: string; signal?: AbortSignal | undefined },
): Promise<SubmitResponse> {
	return sendAgain(() => request(client, { path: "/swap/submit", body: { geoOpToken, signature }, signal }), {
		patienceMs,
		signal,
	});
}
