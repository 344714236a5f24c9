/** The next action for a program that gets an error. */
export const nextSteps = [
	"retry",
	"fix_request",
	"requote",
	"rebuild",
	"resign",
	"reauthorize",
	"fund_wallet",
	"use_other_wallet",
	"renew_mandate",
	"check_key",
	"contact_operator",
] as const;
export type NextStep = (typeof nextSteps)[number];

type Entry = { http: number; next: NextStep; retryable: boolean; message: string };

/**
 * Every error of the API. `message` states what happened and what to do, and a field of `details` that it names is
 * replaced by its value. The code that throws may be more specific.
 */
export const errorCatalogue = {
	INVALID_REQUEST: {
		http: 400,
		next: "fix_request",
		retryable: false,
		message: "The request is malformed. Correct details.issues and send it again.",
	},
	INVALID_SIGNATURE: {
		http: 400,
		next: "resign",
		retryable: false,
		message:
			"The signature is not the wallet's signature over geoOpHash. Sign the raw 32 bytes with personal_sign (EIP-191) and submit again.",
	},
	TRANSACTION_CHANGED: {
		http: 400,
		next: "resign",
		retryable: false,
		message:
			"The signed transaction is not the one that was built; some wallets change what they sign. Sign the bytes of unsignedTransaction unchanged, with the wallet's key.",
	},
	UNAUTHORIZED: {
		http: 401,
		next: "check_key",
		retryable: false,
		message: "The API key is missing, unknown, expired or revoked. Send a valid key in the x-api-key header.",
	},
	INVALID_TOKEN: {
		http: 401,
		next: "requote",
		retryable: false,
		message:
			"The sealed token was altered, or belongs to another endpoint or account. Pass it on exactly as it was issued, or start from a new quote.",
	},
	SWAP_NOT_FOUND: {
		http: 404,
		next: "fix_request",
		retryable: false,
		message: "There is no such swap in this account. Use the swapId that submit returned.",
	},
	NOT_FOUND: {
		http: 404,
		next: "fix_request",
		retryable: false,
		message: "There is no such path. GET /docs lists the paths that exist.",
	},
	RECEIPTS_NOT_OFFERED: {
		http: 404,
		next: "contact_operator",
		retryable: false,
		message:
			"This service signs no receipts. Use the status and its transactions, or ask the operator for a receipt key.",
	},
	METHOD_NOT_ALLOWED: {
		http: 405,
		next: "fix_request",
		retryable: false,
		message: "This path does not support that method. Use a method that the Allow header lists.",
	},
	REQUEST_TIMEOUT: {
		http: 408,
		next: "retry",
		retryable: true,
		message: "The request did not arrive completely in time and was not processed. Send it again.",
	},
	NEEDS_DELEGATION: {
		http: 409,
		next: "reauthorize",
		retryable: false,
		message:
			"The wallet is not delegated on the origin chain. Sign the fields of GET /swap/delegation and attach them as authorization.",
	},
	INVALID_AUTHORIZATION: {
		http: 409,
		next: "reauthorize",
		retryable: false,
		message:
			"The authorization does not match the wallet's state. Read GET /swap/delegation again, sign a fresh authorization and rebuild.",
	},
	WALLET_BUSY: {
		http: 409,
		next: "retry",
		retryable: true,
		message:
			"The wallet has a swap from this chain that has not ended. Send the same request again once it has ended.",
	},
	LIQUIDITY_CHANGED: {
		http: 409,
		next: "requote",
		retryable: false,
		message: "The quoted output is no longer available and nothing was executed. Request a fresh quote.",
	},
	SWAP_NOT_ENDED: {
		http: 409,
		next: "retry",
		retryable: true,
		message:
			"The swap has not ended, so it has no receipt yet. Wait for it with GET /swap/status/{swapId}, then request the receipt again.",
	},
	QUOTE_EXPIRED: {
		http: 410,
		next: "requote",
		retryable: false,
		message: "The quote has expired. Request a fresh quote and rebuild.",
	},
	OP_EXPIRED: {
		http: 410,
		next: "requote",
		retryable: false,
		message: "The operation has expired and was not submitted. Request a fresh quote and rebuild.",
	},
	MANDATE_ENDED: {
		http: 410,
		next: "renew_mandate",
		retryable: false,
		message:
			"The mandate has expired, or its owner has revoked all mandates of the wallet on this chain. Ask the owner for a new one.",
	},
	BODY_TOO_LARGE: {
		http: 413,
		next: "fix_request",
		retryable: false,
		message: "The body is too large. Send at most 32 KiB.",
	},
	UNSUPPORTED_MEDIA_TYPE: {
		http: 415,
		next: "fix_request",
		retryable: false,
		message:
			"The body must be plain JSON. Send it with content-type: application/json, and without content-encoding.",
	},
	UNSUPPORTED_DELEGATION: {
		http: 422,
		next: "use_other_wallet",
		retryable: false,
		message:
			"The wallet is delegated to another provider or is a contract on this chain. Use a different wallet on this chain.",
	},
	NO_ROUTE: {
		http: 422,
		next: "fix_request",
		retryable: false,
		message: "This swap is not offered (details.reason). Choose another chain, token or amount.",
	},
	NEEDS_LARGER_SIZE: {
		http: 422,
		next: "fix_request",
		retryable: false,
		message: "The amount is too small to pay for its own network costs. Send at least details.minimumAmount.",
	},
	INSUFFICIENT_BALANCE: {
		http: 422,
		next: "fund_wallet",
		retryable: true,
		message:
			"The wallet holds details.balance of the swap's input of details.required. Fund it, or request a quote for less.",
	},
	INVALID_MANDATE: {
		http: 422,
		next: "renew_mandate",
		retryable: false,
		message:
			"The mandate is not one that this wallet's owner signed for this service (details.reason). Ask the owner for a new one.",
	},
	OUTSIDE_MANDATE: {
		http: 422,
		next: "fix_request",
		retryable: false,
		message:
			"The mandate does not allow this swap's details.reason. Change it, or ask the owner for another mandate.",
	},
	MANDATE_EXCEEDED: {
		http: 422,
		next: "fix_request",
		retryable: false,
		message:
			"The mandate's cap on the input token is used up for now. Swap at most details.available, or try again later.",
	},
	SIMULATION_FAILED: {
		http: 422,
		next: "requote",
		retryable: false,
		message:
			"The operation would fail on the origin chain and was not sent (details.reason). Request a fresh quote.",
	},
	RATE_LIMITED: {
		http: 429,
		next: "retry",
		retryable: true,
		message: "There were too many requests. Wait for the time in the Retry-After header, then send it again.",
	},
	INTERNAL: {
		http: 500,
		next: "retry",
		retryable: true,
		message:
			"The service failed unexpectedly. Send the same request again; if it persists, give the operator the requestId.",
	},
	UPSTREAM_UNAVAILABLE: {
		http: 503,
		next: "retry",
		retryable: true,
		message:
			"A chain or service that this request needs does not answer. Send the same request again in a moment.",
	},
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof errorCatalogue;
export const errorCodes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

/** The limits that `RATE_LIMITED` may be about. */
export const rateLimitReasons = [
	"rate",
	"gas_budget",
	"reserved_value",
	"recipients_refused",
	"unopened_swaps",
	"cap_share",
	"daily_value",
	"event_streams",
	"removals",
] as const;

/** The type of `details` for each error that has any. */
export type ErrorDetails = {
	INVALID_REQUEST: {
		issues: { path: string; message: string }[];
		accepted?: readonly string[];
		didYouMean?: Record<string, string>;
	};
	INVALID_SIGNATURE: { expected: string; recovered?: string; looksLike?: string };
	TRANSACTION_CHANGED: { changed: string };
	INVALID_TOKEN: {
		reason: "unreadable" | "wrong_endpoint" | "other_account";
		/** The endpoint that takes the token, if the reason is `wrong_endpoint`. */
		endpoint?: string;
	};
	METHOD_NOT_ALLOWED: { allow: readonly string[] };
	NEEDS_DELEGATION: { delegationTarget: string; accountNonce: number };
	INVALID_AUTHORIZATION: {
		reason: "nonce" | "signer" | "address" | "chain" | "pending_transactions";
		expected?: string | number;
	};
	WALLET_BUSY: { swapIds: readonly string[] };
	QUOTE_EXPIRED: { expiredAt: string };
	OP_EXPIRED: { expiredAt: string };
	UNSUPPORTED_DELEGATION: { delegatedTo?: string };
	NO_ROUTE: {
		reason: "chain" | "token" | "pair" | "paused" | "capacity" | "denied";
		/**
		 * The side of the swap that the reason is about, if it is about one. With `denied`, `origin` is the wallet and
		 * `destination` the recipient.
		 */
		side?: "origin" | "destination";
		/** The values that the field of that side accepts, as a request has them, if the reason is `chain` or `token`. */
		accepted?: readonly string[];
		maximumAmount?: string;
	};
	NEEDS_LARGER_SIZE: { minimumAmount: string };
	INSUFFICIENT_BALANCE: { balance: string; required: string };
	/**
	 * `signature`: it is not the owner's. `escrow`, `desk`: it is for other contracts. `quote`: the quote was made with
	 * another mandate.
	 */
	INVALID_MANDATE: { reason: "signature" | "wallet" | "escrow" | "form" | "desk" | "quote" };
	MANDATE_ENDED: { reason: "expired" | "revoked" };
	OUTSIDE_MANDATE: { reason: "input" | "output" | "recipient" | "amount"; maximumAmount?: string };
	MANDATE_EXCEEDED: { available: string; required: string };
	SIMULATION_FAILED: { reason: string };
	LIQUIDITY_CHANGED: { reason: "price" | "inventory" | "paused" };
	RATE_LIMITED: {
		reason?: (typeof rateLimitReasons)[number];
		retryAfterSeconds?: number;
	};
	UPSTREAM_UNAVAILABLE: {
		upstream?: string;
		retryAfterSeconds?: number;
		/** Returned only by /ready. Everything that the process waits for; `upstream` is the first entry. */
		notReady?: readonly { name: string; problem: string }[];
	};
};

type DetailsOf<Code extends ErrorCode> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : undefined;

/** More issues than these are only in `details`. */
const maxIssuesInMessage = 3;

/** Returns the catalogue's message with the values of the details that it names. */
function messageOf(code: ErrorCode, details: object | undefined): string {
	const values = new Map<string, unknown>(Object.entries(details ?? {}));
	return errorCatalogue[code].message.replace(/details\.(\w+)/g, (name, field: string) => {
		const value = values.get(field);
		if (Array.isArray(value) && value.length > 0) return issuesText(value);
		return typeof value === "string" && value !== "" ? value : name;
	});
}

function issuesText(issues: ErrorDetails["INVALID_REQUEST"]["issues"]): string {
	const shown = issues
		.slice(0, maxIssuesInMessage)
		.map(({ path, message }) => `${path || "the request"} (${message})`);
	const hidden = issues.length - shown.length;
	return shown.join(", ") + (hidden > 0 ? `, and ${hidden} more of details.issues,` : "");
}

/** An error of the catalogue. Anything else that is thrown is a bug, and is reported as INTERNAL. */
export class SwapError<Code extends ErrorCode = ErrorCode> extends Error {
	override name = "SwapError";
	readonly code: Code;
	readonly details: DetailsOf<Code>;
	readonly next: NextStep;
	/** True if the same bytes may succeed later. */
	readonly retryable: boolean;

	constructor(
		code: Code,
		details: DetailsOf<Code>,
		options: { message?: string; cause?: unknown; next?: NextStep; retryable?: boolean } = {},
	) {
		super(options.message ?? messageOf(code, details), { cause: options.cause });
		this.code = code;
		this.details = details;
		this.next = options.next ?? errorCatalogue[code].next;
		this.retryable = options.retryable ?? errorCatalogue[code].retryable;
	}
}
