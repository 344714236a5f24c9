import type { MandateJson, SubmitResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";

/** Time limit of retries: not much longer than an op lives. */
const patienceMs = 60_000;

/**
 * Submits a signed op. If no response arrives, or one that may change, the same bytes are sent again. One quote becomes
 * one swap even if it is submitted many times, while a new quote could become a second.
 */
export function submitOp(
	client: Client,
	{
		geoOpToken,
		signature,
		mandate,
		signal,
	}: {
		geoOpToken: string;
		signature: string;
		/** The mandate of the quote, if it had one. The signature is then the agent's. */
		mandate?: MandateJson | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<SubmitResponse> {
	const body = { geoOpToken, signature, ...(mandate && { mandate }) };
	return sendAgain(() => request(client, { path: "/swap/submit", body, signal }), { patienceMs, signal });
}
