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
	/** Nothing was executed, and these bytes can no longer be executed. */
	| { outcome: "dead"; error: GeoswapError }
	/** Nothing was executed yet. */
	| { outcome: "refused"; error: GeoswapError };

export const againMs = 3_000;
/** Limit on the pause that a response requests. The bytes may have been taken or have expired long before its end. */
export const maxPauseMs = 60_000;

/**
 * Sends the same bytes until the service has made a swap of them, or reports that it never will. A refusal is not
 * final, because until the bytes expire, a delayed copy, or one that a third party sends, may still be taken. Nor is it
 * enough that the service reports them as expired while the chain would still execute them. Until then nothing else may
 * be signed for the same intent, except from the same quote.
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
		/** The quote's swap id, which is also the swap's. */
		swapId: string;
		/** The time from which no chain executes the bytes. */
		deadAtMs: number;
		/** Called once for each code. */
		onRefused: (error: GeoswapError) => void;
		/** Called once, if the service reports that the bytes have expired before the time at which that is certain. */
		onWaiting: (until: string) => void;
		/** Returns true if this refusal is to be returned immediately. */
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
					// A refusal of the swap itself is more specific, and is kept.
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
				// The key that sealed the token is gone after some time. The swap can still be found by its id.
				if (error.code === "INVALID_TOKEN" && (await isKnown(client, { swapId, signal })))
					return { outcome: "taken" };
				const told = goesOn.includes(error.next) ? error : unknownFate(error, { swapId, deadAtMs });
				told.mayExecute = true;
				throw told;
			}
		}
		await sleep(Math.min(pauseMs, maxPauseMs), signal);
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

/** Returns false if the service can no longer determine whether the bytes were executed, and refers to the operator. */
function isExpired({ code, next }: GeoswapError): boolean {
	return code === "OP_EXPIRED" && next !== "contact_operator";
}

/**
 * Errors about the caller, the address or the bytes. The service returns them before it reads the swap, so a 410 never
 * follows.
 */
const aboutTheRequest: readonly GeoswapErrorCode[] = [
	"INVALID_REQUEST",
	"UNAUTHORIZED",
	"INVALID_TOKEN",
	// The signers here have checked what is sent. A service that returns this got something else, or is mistaken.
	"INVALID_SIGNATURE",
	"INVALID_MANDATE",
	"OUTSIDE_MANDATE",
	"TRANSACTION_CHANGED",
	"NOT_FOUND",
	"METHOD_NOT_ALLOWED",
	"BODY_TOO_LARGE",
	"UNSUPPORTED_MEDIA_TYPE",
];

/** Returns true if the error came from the service itself, not from a proxy before it nor from a missing response. */
function isServices({ code }: GeoswapError): boolean {
	return code !== "UNREACHABLE" && code !== "UNEXPECTED_RESPONSE";
}

/** Returns true if the swap itself was refused, because of the current state. */
function isRefusal({ code, next, status = 0 }: GeoswapError): boolean {
	return status >= 400 && status < 500 && !aboutTheRequest.includes(code) && next !== "contact_operator";
}

/** Steps that lead to the same call, with the same id. Any other step would begin a second swap. */
const goesOn: readonly GeoswapError["next"][] = ["retry", "check_key", "contact_operator"];

/**
 * Returns the service's error with the remaining steps, for bytes that the service refuses now and may have taken
 * earlier. The service's advice, such as another quote, is for callers that have sent nothing yet. It stays in the
 * cause.
 */
function unknownFate(
	cause: GeoswapError,
	{ swapId, deadAtMs }: { swapId: string; deadAtMs: number },
): GeoswapError {
	const { code, status, requestId, details, docs } = cause;
	const deadAt = new Date(deadAtMs).toISOString();
	return new GeoswapError(
		`The service does not accept what was signed for ${swapId} now (${code}), but may have accepted it before. No chain executes it after ${deadAt}. Start no other swap for it until then. If nothing has left the wallet by then, nothing happened, and you may start it again with a new id.`,
		{
			code: code as never,
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
		`${client.baseUrl} accepted the submit, but did not answer with ${swapId}. Another server may be answering, so check the address.`,
		{ code: "UNEXPECTED_RESPONSE", next: "contact_operator", retryable: false, docs: docsUrl(client) },
	);
}
