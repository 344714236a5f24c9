import type { ErrorCode, ErrorDetails, NextStep } from "@geoswap/protocol";

/** The service's own codes, and those of failures on the client's side. */
export type GeoswapErrorCode =
	| ErrorCode
	| "UNREACHABLE"
	| "UNEXPECTED_RESPONSE"
	| "VERIFICATION_FAILED"
	| "SIGNER_FAILED"
	| "BELOW_MIN_OUTPUT"
	| "ABOVE_MAX_INPUT"
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

/** The details of the errors of this package. Amounts are in the smallest unit, as decimal text. */
type OwnDetails = {
	VERIFICATION_FAILED: { field: string; expected: string; actual: string };
	BELOW_MIN_OUTPUT: { quoted: string; minOutput: string };
	ABOVE_MAX_INPUT: { quoted: string; maxInput: string };
	PRICE_NOT_ACCEPTED: { quoted: string; floor: string };
	DECLINED: { quoted: string };
	INTENT_CHANGED: { field: string; saved: unknown; asked: unknown };
	/** `limit` is one of `budgetLimits`. The amounts are of `token`. */
	BUDGET_REFUSED: { limit: string; chainId: number; token: string } & Record<string, string | number>;
	RECEIPT_REFUSED: { field: string };
	RPC_UNAVAILABLE: { chainId: number };
};
type KnownDetails = ErrorDetails & OwnDetails;

/**
 * The details of an error. A service of another version may send fewer or others. `deadAt` is the time from which no
 * chain executes what `swap()` signed, if its outcome is unknown.
 */
type Details<Code> = (Code extends keyof KnownDetails ? Partial<KnownDetails[Code]> : unknown) & {
	deadAt?: string;
};

/** A value of a list that may grow. Treat an unknown step as `contact_operator`. */
type OpenNextStep = NextStep | (string & {});

type Coded = {
	[Code in GeoswapErrorCode]: { code: Code; details?: Details<Code> | undefined };
}[GeoswapErrorCode];

type Context = Coded & {
	next: OpenNextStep;
	retryable: boolean;
	docs: string;
	status?: number | undefined;
	requestId?: string | undefined;
	retryAfterMs?: number | undefined;
	cause?: unknown;
};

/** An error with this code. Errors of this package extend it. */
export class GeoswapErrorOf<Code extends GeoswapErrorCode> extends Error {
	override name = "GeoswapError";
	/** A newer service may send a code that is not listed here. Branch on `next` then. */
	readonly code: Code;
	/** The next action, for a program. */
	readonly next: OpenNextStep;
	/** True if the same bytes may succeed later. */
	readonly retryable: boolean;
	/** The address of the documentation, or its path at the service. */
	readonly docs: string;
	/** The HTTP status, if there was a response. */
	readonly status: number | undefined;
	/** The id to give to the operator. */
	readonly requestId: string | undefined;
	readonly details: Details<Code> | undefined;
	/** The pause that the service requested. */
	readonly retryAfterMs: number | undefined;
	/** Only from `swap()`. True if the intent may still be executed. False if nothing was taken, and nothing will be. */
	mayExecute: boolean | undefined;
	/** Only from `swap()`. The intent's id, if the caller set one. */
	id: string | undefined;
	/** Only from `swap()`. The swap id of the last op that was signed for the intent. */
	swapId: string | undefined;

	constructor(message: string, { cause, ...context }: Context & { code: Code }) {
		super(message, cause === undefined ? {} : { cause });
		this.code = context.code;
		this.next = context.next;
		this.retryable = context.retryable;
		this.docs = context.docs;
		this.status = context.status;
		this.requestId = context.requestId;
		this.details = context.details as Details<Code> | undefined;
		this.retryAfterMs = context.retryAfterMs;
	}
}

/**
 * The error that every action of this package throws. Only the reason of an `AbortSignal` is thrown unchanged. A check
 * of `code` gives `details` their type.
 */
export type GeoswapError = { [Code in GeoswapErrorCode]: GeoswapErrorOf<Code> }[GeoswapErrorCode];
export const GeoswapError: {
	new (message: string, context: Context): GeoswapError;
	readonly prototype: GeoswapError;
} = GeoswapErrorOf as never;
