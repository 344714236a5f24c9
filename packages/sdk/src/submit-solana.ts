import type { SubmitResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";

/** Time limit of retries: not much longer than a blockhash lives. */
const patienceMs = 60_000;

/** Submits a signed transaction. If no response arrives, or one that may change, the same bytes are sent again. */
export function submitSolana(
	client: Client,
	{
		geoOpToken,
		signedTransaction,
		signal,
	}: { geoOpToken: string; signedTransaction: string; signal?: AbortSignal | undefined },
): Promise<SubmitResponse> {
	const body = { geoOpToken, signedTransaction };
	return sendAgain(() => request(client, { path: "/swap/submit-solana", body, signal }), {
		patienceMs,
		signal,
	});
}
