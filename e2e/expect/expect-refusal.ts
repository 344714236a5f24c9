import { type ErrorCode, errorBodySchema } from "@geoswap/protocol";
import type { ExpectStatic } from "vitest";
import type { ApiAnswer } from "../caller/call-api.ts";

/**
 * HTTP status, next and retryable that callers were promised for each error, independent of the service's own
 * catalogue.
 */
const promised: Partial<Record<ErrorCode, [status: number, next: string, retryable: boolean]>> = {
	INVALID_REQUEST: [400, "fix_request", false],
	INVALID_SIGNATURE: [400, "resign", false],
	TRANSACTION_CHANGED: [400, "resign", false],
	UNAUTHORIZED: [401, "check_key", false],
	INVALID_TOKEN: [401, "requote", false],
	SWAP_NOT_FOUND: [404, "fix_request", false],
	NOT_FOUND: [404, "fix_request", false],
	RECEIPTS_NOT_OFFERED: [404, "contact_operator", false],
	SWAP_NOT_ENDED: [409, "retry", true],
	METHOD_NOT_ALLOWED: [405, "fix_request", false],
	REQUEST_TIMEOUT: [408, "retry", true],
	NEEDS_DELEGATION: [409, "reauthorize", false],
	INVALID_AUTHORIZATION: [409, "reauthorize", false],
	LIQUIDITY_CHANGED: [409, "requote", false],
	QUOTE_EXPIRED: [410, "requote", false],
	OP_EXPIRED: [410, "requote", false],
	BODY_TOO_LARGE: [413, "fix_request", false],
	UNSUPPORTED_MEDIA_TYPE: [415, "fix_request", false],
	UNSUPPORTED_DELEGATION: [422, "use_other_wallet", false],
	NO_ROUTE: [422, "fix_request", false],
	NEEDS_LARGER_SIZE: [422, "fix_request", false],
	INSUFFICIENT_BALANCE: [422, "fund_wallet", true],
	SIMULATION_FAILED: [422, "requote", false],
	RATE_LIMITED: [429, "retry", true],
};

/**
 * Reasons that pass by themselves, so that the same bytes may succeed later, regardless of the code's other promises.
 */
const passingReasons = ["paused", "pending_transactions"];

/** Expects this error, in the form that all errors have, with exactly these details, or with none if undefined. */
export function expectRefusal(
	expect: ExpectStatic,
	{ status, headers, body }: ApiAnswer,
	code: ErrorCode,
	details?: unknown,
): void {
	const { reason = "" } = (details as { reason?: string } | undefined) ?? {};
	const isPassing = passingReasons.includes(reason);
	const next = reason === "wrong_endpoint" ? "fix_request" : promised[code]?.[1];
	expect(body, JSON.stringify(body)).toEqual({
		code,
		message: expect.stringMatching(/^.{20,}\.$/),
		next: isPassing ? "retry" : next,
		retryable: isPassing || promised[code]?.[2],
		requestId: headers["x-request-id"],
		...(details !== undefined && { details }),
	});
	expect(errorBodySchema.safeParse(body).success).toBe(true);
	expect(status).toBe(promised[code]?.[0]);
	expect(headers["content-type"]).toMatch(/^application\/json\b/);
	expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
}

/** Returns the details of a request in which these fields are wrong. */
export function issuesAt(expect: ExpectStatic, ...paths: string[]): unknown {
	return { issues: paths.map((path) => ({ path, message: expect.stringMatching(/.{5,}/) })) };
}
