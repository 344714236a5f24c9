import type { NextStep, SubmitResponse } from "@geoswap/protocol";
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
export const longestPauseMs = 60_000;

/**
 * Sends the same bytes until the service has made a swap of them, or says that it never will. A refusal is no such word
 * yet: until they expire the same bytes, late on their way or sent by whoever saw them, may be taken after all. Nor is its
 * word enough that they have expired, while the chain would still execute them. So nothing else may be signed for the same
 * intent before that, but what is of the same quote.
 */
export async function submitUntilKnown(
	client: Client,
	{ path, body }: Submission,
	{
		swapId,
		deadAtMs,
		onRefused,
		onWaiting,
		isEnough,
		signal,
	}: {
		/** The quote's, which the swap has. */
		swapId: string;
		/** From then on no chain executes it. */
		deadAtMs: number;
		/** Said once for each code. */
		onRefused: (error: GeoswapError) => void;
		/** The service says that they have expired, and until then it could still be otherwise. Said once. */
		onWaiting: (until: string) => void;
		/** Whether this refusal is to be told at once. */
		isEnough: (error: GeoswapError) => boolean;
		signal?: AbortSignal | undefined;
	},
): Promise<SubmitOutcome> {
	let refusal: GeoswapError | undefined;
	const toldCodes = new Set<GeoswapErrorCode>();
	const tell = (error: GeoswapError) => {
		if (!toldCodes.has(error.code)) onRefused(error);
		toldCodes.add(error.code);
	};
	let isWaiting = false;
	for (;;) {
		const askedMs = Date.now();
		let pauseMs: number;
		try {
			const answer = await sendAgain(() => request<SubmitResponse>(client, { path, body, signal }), {
				patienceMs: Number.POSITIVE_INFINITY,
				onRetry: (error) => {
					if (!isServices(error)) return;
					tell(error);
					// What was said about the swap itself says more.
					refusal ??= error;
				},
				signal,
			});
			if (answer.swapId !== swapId) throw notItsAnswer(client, swapId);
			return { outcome: "taken" };
		} catch (error) {
			if (!(error instanceof GeoswapError)) throw error;
			if (isExpired(error)) {
				if (askedMs > deadAtMs) return { outcome: "dead", error: refusal ?? error };
				if (!isWaiting) onWaiting(new Date(deadAtMs).toISOString());
				isWaiting = true;
				pauseMs = Math.max(1, deadAtMs + 1 - Date.now());
			} else if (isRefusal(error)) {
				if (isEnough(error)) return { outcome: "refused", error };
				tell(error);
				refusal = error;
				pauseMs = Math.max(againMs, error.retryAfterMs ?? 0);
			} else {
				// Its key is gone after some time; what became of it is known by its id.
				if (error.code === "INVALID_TOKEN" && (await isKnown(client, { swapId, signal })))
					return { outcome: "taken" };
				const told = goesOn.includes(error.next) ? error : unknownFate(error, { swapId, deadAtMs });
				told.mayExecute = true;
				throw told;
			}
		}
		await sleep(Math.min(pauseMs, longestPauseMs), signal);
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

/** About the caller, the address or the bytes themselves: said before the swap is looked at, and so never followed by 410. */
const aboutTheRequest: readonly GeoswapErrorCode[] = [
	"INVALID_REQUEST",
	"UNAUTHORIZED",
	"INVALID_TOKEN",
	// The signers here have looked at what is sent: whoever says this sees something else, or does not see well.
	"INVALID_SIGNATURE",
	"TRANSACTION_CHANGED",
	"NOT_FOUND",
	"METHOD_NOT_ALLOWED",
	"BODY_TOO_LARGE",
	"UNSUPPORTED_MEDIA_TYPE",
];

/** The service's own word; not that of a proxy before it, or of nobody. */
function isServices({ code }: GeoswapError): boolean {
	return code !== "UNREACHABLE" && code !== "UNEXPECTED_RESPONSE";
}

/** Of the swap, by the state of things. */
function isRefusal({ code, next, status = 0 }: GeoswapError): boolean {
	return status >= 400 && status < 500 && !aboutTheRequest.includes(code) && next !== "contact_operator";
}

/** Steps that end in the same call, with the same id. Whoever took another would begin a second swap. */
const goesOn: readonly NextStep[] = ["retry", "check_key", "contact_operator"];

/**
 * The service's error, and what is left to do where it may have taken before what it does not take now. Its own advice,
 * such as another quote, is for who has sent nothing yet, and is left to the cause.
 */
function unknownFate(
	cause: GeoswapError,
	{ swapId, deadAtMs }: { swapId: string; deadAtMs: number },
): GeoswapError {
	const { code, status, requestId, details, docs } = cause;
	const deadAt = new Date(deadAtMs).toISOString();
	return new GeoswapError(
		`What was signed for ${swapId} is not taken now (${code}), and may have been before. After ${deadAt} no chain executes it any more: if nothing left the wallet for it since it was signed, nothing happened, and it may be asked for under a new id. Until then begin no other swap for it.`,
		{
			code,
			status,
			requestId,
			docs,
			cause,
			next: "contact_operator",
			retryable: false,
			details: { ...details, deadAt },
		},
	);
}

function notItsAnswer(client: Client, swapId: string): GeoswapError {
	return new GeoswapError(
		`${client.baseUrl} took what was submitted, but does not name ${swapId}: something else may answer in its place. Check the address.`,
		{ code: "UNEXPECTED_RESPONSE", next: "contact_operator", retryable: false, docs: docsUrl(client) },
	);
}
