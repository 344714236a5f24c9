import type { ErrorCode, NextStep } from "@geoswap/protocol";

/** The service's own codes, and what can go wrong on this side of it. */
export type GeoswapErrorCode =
	| ErrorCode
	| "UNREACHABLE"
	| "UNEXPECTED_RESPONSE"
	| "VERIFICATION_FAILED"
	| "SIGNER_FAILED"
	| "BELOW_MIN_OUTPUT"
	| "PRICE_NOT_ACCEPTED"
	| "SWAP_IN_PROGRESS"
	| "INTENT_CHANGED"
	| "RECORD_UNREADABLE"
	/** Of `swap()`: the store, the wallet or a callback that it was given threw. */
	| "INTERRUPTED";

type Context = {
	code: GeoswapErrorCode;
	next: NextStep;
	retryable: boolean;
	docs: string;
	status?: number | undefined;
	requestId?: string | undefined;
	details?: Record<string, unknown> | undefined;
	retryAfterMs?: number | undefined;
	cause?: unknown;
};

/** What every action of this package throws, but for the reason of an `AbortSignal`, which is thrown as it is. */
export class GeoswapError extends Error {
	override name = "GeoswapError";
	readonly code: GeoswapErrorCode;
	/** What to do about it, for a machine. */
	readonly next: NextStep;
	/** Whether the same bytes may succeed later. */
	readonly retryable: boolean;
	/** Where to read more. */
	readonly docs: string;
	/** The HTTP status, where there was an answer. */
	readonly status: number | undefined;
	/** What to name to the operator. */
	readonly requestId: string | undefined;
	readonly details: Record<string, unknown> | undefined;
	/** How long the service asked to be left alone. */
	readonly retryAfterMs: number | undefined;
	/** Of what `swap()` throws: whether the intent may still be executed. False: nothing was taken, and nothing will be. */
	mayExecute: boolean | undefined;
	/** Of what `swap()` throws: the intent's, where the caller gave it one. */
	id: string | undefined;
	/** Of what `swap()` throws: of what was signed for the intent last. */
	swapId: string | undefined;

	constructor(message: string, { cause, ...context }: Context) {
		super(message, cause === undefined ? {} : { cause });
		this.code = context.code;
		this.next = context.next;
		this.retryable = context.retryable;
		this.docs = context.docs;
		this.status = context.status;
		this.requestId = context.requestId;
		this.details = context.details;
		this.retryAfterMs = context.retryAfterMs;
	}
}
