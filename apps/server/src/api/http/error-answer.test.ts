import { SwapError } from "@geoswap/protocol";
import pg from "pg";
import { expect, test } from "vitest";
import { errorAnswer } from "./error-answer.ts";

function answerTo(code: string) {
	const error = Object.assign(new pg.DatabaseError("refused", 7, "error"), { code });
	const { status, body } = errorAnswer(error, { requestId: "request" });
	return { status, code: body.code, next: body.next };
}

test("a database that is read-only, full or stopping is reported as unavailable, and the caller may repeat the request", () => {
	for (const code of ["25006", "53100", "57P01"]) {
		expect(answerTo(code)).toEqual({ status: 503, code: "UPSTREAM_UNAVAILABLE", next: "retry" });
	}
});

test("a statement that the database rejects as invalid is an internal error", () => {
	expect(answerTo("42601")).toMatchObject({ status: 500, code: "INTERNAL" });
});

test("Retry-After is sent when something is unavailable for a known time, and only then", () => {
	const headersOf = (details: SwapError<"UPSTREAM_UNAVAILABLE">["details"]) =>
		errorAnswer(new SwapError("UPSTREAM_UNAVAILABLE", details), { requestId: "request" }).headers;
	expect(headersOf({ upstream: "deny list", retryAfterSeconds: 2 })).toEqual({ "retry-after": "2" });
	expect(headersOf({ upstream: "chain 1" })).toEqual({});
});
