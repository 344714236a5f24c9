import type { SubmitResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError, type GeoswapErrorCode } from "./geoswap-error.ts";
import { getStatus } from "./get-status.ts";
import type { Submission } from "./origin-signer.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";
import { sleep } from "./sleep.ts";

export type SubmitOutcome =
	| { outcome: "taken" }
	/** Nothing was executed, and nothing of these bytes can be any more. */
	| { outcome: "dead"; error: GeoswapError }
	/** Nothing was executed yet. */
	| { outcome: "refused"; error: GeoswapError };

export const againMs = 3_000;
/** Whatever the answer asks for: the bytes may have been taken or have died long before. */
const longestPauseMs = 60_000;

/**
 * Sends the same bytes until the service has made a swap of them, or says that it never will. A refusal is no such word
 * yet: until they expire the same bytes, late on their way or sent by whoever saw them, may be taken after all. So nothing
 * else may be signed for the same intent before that, but what is of the same quote.
 */
export async function submitUntilKnown(
	client: Client,
	{ path, body }: Submission,
	{
		swapId,
		onRefused,
		isEnough,
		signal,
	}: {
		/** The quote's, which the swap has. */
		swapId: string;
		onRefused: (error: GeoswapError) => void;
		/** Whether this refusal is to be told at once. */
		isEnough: (error: GeoswapError) => boolean;
		signal?: AbortSignal | undefined;
	},
): Promise<SubmitOutcome> {
	let refusal: GeoswapError | undefined;
	for (;;) {
		try {
			const answer = await sendAgain(() => request<SubmitResponse>(client, { path, body, signal }), {
				patienceMs: Number.POSITIVE_INFINITY,
				signal,
			});
			if (answer.swapId !== swapId) throw notItsAnswer(client, swapId);
			return { outcome: "taken" };
		} catch (error) {
			if (!(error instanceof GeoswapError)) throw error;
			if (isExpired(error)) return { outcome: "dead", error: refusal ?? error };
			if (isUseless(error)) return { outcome: "dead", error };
			if (!isRefusal(error)) {
				// Its key is gone after some time; what became of it is known by its id.
				if (error.code === "INVALID_TOKEN" && (await isKnown(client, { swapId, signal })))
					return { outcome: "taken" };
				error.mayExecute = true;
				throw error;
			}
			if (isEnough(error)) return { outcome: "refused", error };
			if (refusal?.code !== error.code) onRefused(error);
			refusal = error;
		}
		await sleep(Math.min(refusal.retryAfterMs ?? againMs, longestPauseMs), signal);
	}
}

async function isKnown(
	client: Client,
	{ swapId, signal }: { swapId: string; signal: AbortSignal | undefined },
): Promise<boolean> {
	try {
		return (await getStatus(client, swapId, { waitSeconds: 0, signal })).swapId === swapId;
	} catch {
		signal?.throwIfAborted();
		return false;
	}
}

/** Where the service cannot tell any more whether they were executed it asks for a person. */
function isExpired({ code, next }: GeoswapError): boolean {
	return code === "OP_EXPIRED" && next !== "contact_operator";
}

/** No wallet signed these bytes: nobody can make a swap of them. The signers here look first, and do not send them. */
function isUseless({ code, next }: GeoswapError): boolean {
	return (code === "INVALID_SIGNATURE" || code === "TRANSACTION_CHANGED") && next !== "contact_operator";
}

/** About the caller, the address or the bytes themselves: said before the swap is looked at, and so never followed by 410. */
const aboutTheRequest: readonly GeoswapErrorCode[] = [
	"INVALID_REQUEST",
	"UNAUTHORIZED",
	"INVALID_TOKEN",
	"NOT_FOUND",
	"METHOD_NOT_ALLOWED",
	"BODY_TOO_LARGE",
	"UNSUPPORTED_MEDIA_TYPE",
];

/** Of the swap, by the state of things. */
function isRefusal({ code, next, status = 0 }: GeoswapError): boolean {
	return status >= 400 && status < 500 && !aboutTheRequest.includes(code) && next !== "contact_operator";
}

function notItsAnswer(client: Client, swapId: string): GeoswapError {
	return new GeoswapError(
		`${client.baseUrl} took what was submitted, but does not name ${swapId}: something else may answer in its place. Check the address.`,
		{ code: "UNEXPECTED_RESPONSE", next: "contact_operator", retryable: false, docs: docsUrl(client) },
	);
}
