import type { ErrorCode, NextStep } from "@geoswap/protocol";

/** The service's own codes, and those of failures on the client's side. */
export type GeoswapErrorCode =
	| ErrorCode
	| "UNREACHABLE"
	| "UNEXPECTED_RESPONSE"
	| "VERIFICATION_FAILED"
	| "SIGNER_FAILED"
	| "BELOW_MIN_OUTPUT"
	| "PRICE_NOT_ACCEPTED"
	| "DECLINED"
	| "SWAP_IN_PROGRESS"
	| "INTENT_CHANGED"
	| "RECORD_UNREADABLE"
	/** Only from a budget that does not allow the swap. */
	| "BUDGET_REFUSED"
	/** Only from `removeDelegation()`. The delegation was removed, but the wallet's mandates are still valid. */
	| "NOT_REVOKED"
	/** Only from `removeDelegation()`. The wallet is still delegated. */
	| "NOT_REMOVED"
	| "RECEIPT_REFUSED"
	| "RPC_UNAVAILABLE"
	/** Only from `swap()`. The given store, wallet or callback threw. */
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

/** The error that every action of this package throws. Only the reason of an `AbortSignal` is thrown unchanged. */
export class GeoswapError extends Error {
	override name = "GeoswapError";
	readonly code: GeoswapErrorCode;
	/** The next action, for a program. */
	readonly next: NextStep;
	/** True if the same bytes may succeed later. */
	readonly retryable: boolean;
	/** The address or file of the documentation. */
	readonly docs: string;
	/** The HTTP status, if there was a response. */
	readonly status: number | undefined;
	/** The id to give to the operator. */
	readonly requestId: string | undefined;
	readonly details: Record<string, unknown> | undefined;
	/** The pause that the service requested. */
	readonly retryAfterMs: number | undefined;
	/** Only from `swap()`. True if the intent may still be executed. False if nothing was taken, and nothing will be. */
	mayExecute: boolean | undefined;
	/** Only from `swap()`. The intent's id, if the caller set one. */
	id: string | undefined;
	/** Only from `swap()`. The swap id of the last op that was signed for the intent. */
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
