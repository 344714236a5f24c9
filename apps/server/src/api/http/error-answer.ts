import { type ErrorBody, errorCatalogue, SwapError } from "@geoswap/protocol";
import { refusalOf } from "../../database/database.ts";

export type ErrorAnswer = { status: number; headers: Record<string, string>; body: ErrorBody };

/**
 * Converts thrown errors to HTTP answers, and is the only place that does. An error outside the catalogue reveals
 * nothing to callers.
 */
export function errorAnswer(error: unknown, { requestId }: { requestId: string }): ErrorAnswer {
	const known = toSwapError(error);
	return {
		status: errorCatalogue[known.code].http,
		headers: headersOf(known),
		body: {
			code: known.code,
			message: known.message,
			next: known.next,
			retryable: known.retryable,
			requestId,
			...(known.details && { details: { ...known.details } }),
		},
	};
}

/** Returns the bytes of an answer for the bare socket, for received bytes that never became a request. */
export function rawErrorAnswer(error: unknown, { requestId }: { requestId: string }): string {
	const { status, headers, body } = errorAnswer(error, { requestId });
	const text = JSON.stringify(body);
	const lines = Object.entries({
		...headers,
		"content-type": "application/json; charset=utf-8",
		"content-length": String(Buffer.byteLength(text)),
		"x-request-id": requestId,
		connection: "close",
	}).map(([name, value]) => `${name}: ${value}`);
	return [`HTTP/1.1 ${status} Error`, ...lines, "", text].join("\r\n");
}

function toSwapError(error: unknown): SwapError {
	if (error instanceof SwapError) return error;
	const isCrowded = error instanceof Error && error.message === "timeout exceeded when trying to connect";
	// A database that takes no writes is not a bug of the service, and the same request succeeds once writes work
	// again.
	if (isCrowded || refusalOf(error)) {
		return new SwapError("UPSTREAM_UNAVAILABLE", { upstream: "database" }, { cause: error });
	}
	const { code, statusCode } =
		error instanceof Error ? (error as { code?: unknown; statusCode?: unknown } & Error) : {};
	switch (code) {
		case "FST_ERR_CTP_BODY_TOO_LARGE":
			return new SwapError("BODY_TOO_LARGE", undefined);
		case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
			return new SwapError("UNSUPPORTED_MEDIA_TYPE", undefined);
		case "HPE_HEADER_OVERFLOW":
			return invalid("the request's headers are too large");
		case "ERR_HTTP_REQUEST_TIMEOUT":
			return new SwapError("REQUEST_TIMEOUT", undefined);
	}
	const isCallersFault =
		(typeof statusCode === "number" && statusCode >= 400 && statusCode < 500) ||
		(typeof code === "string" && code.startsWith("HPE_"));
	return isCallersFault
		? invalid("the request is not well-formed HTTP")
		: new SwapError("INTERNAL", undefined, { cause: error });
}

function invalid(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "", message }] });
}

function headersOf(error: SwapError): Record<string, string> {
	if (isCode(error, "METHOD_NOT_ALLOWED")) return { allow: error.details.allow.join(", ") };
	if (isCode(error, "RATE_LIMITED")) return { "retry-after": String(error.details.retryAfterSeconds ?? 1) };
	if (isCode(error, "UPSTREAM_UNAVAILABLE") && error.details.retryAfterSeconds !== undefined) {
		return { "retry-after": String(error.details.retryAfterSeconds) };
	}
	return {};
}

function isCode<Code extends SwapError["code"]>(error: SwapError, code: Code): error is SwapError<Code> {
	return error.code === code;
}
