import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryOf } from "./arbitrary-of.ts";
import { createAnswerCheck } from "./check-answer.ts";
import type { Draft } from "./draft-request.ts";
import { type OpenapiJson, operationsOf } from "./interface-document.ts";

const document = JSON.parse(
	readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"),
) as OpenapiJson;
const operations = operationsOf(document);

test("the values generated for the schema of a request are valid by that schema", () => {
	const ajv = new Ajv2020({ strict: false });
	ajv.addSchema({ ...document, $id: "https://geoswap.example/all" });
	const schemas = operations.flatMap(({ body, parameters }) => [
		...(body ? [body] : []),
		...parameters.map(({ schema }) => schema),
	]);
	expect(schemas.length).toBeGreaterThan(10);
	for (const schema of schemas) {
		const ownRefs = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"https://geoswap.example/all#');
		const validate = ajv.compile(JSON.parse(ownRefs));
		fc.assert(fc.property(arbitraryOf(document, schema), (value) => validate(value)));
	}
});

const check = createAnswerCheck(document);
const requestId = "3f0b9a52-8a55-4c0e-9b53-1d3a3d1a9f01";
const status = operations.find(({ id }) => id === "getStatus");
if (!status) throw new Error("the document has no status");
const draft: Draft = {
	operation: status,
	class: "valid",
	twist: "",
	isReaching: true,
	version: "HTTP/1.1",
	framing: "length",
	method: "GET",
	path: "/swap/status/x",
	query: [],
	headers: [],
	body: undefined,
};
const refused = {
	code: "SWAP_NOT_FOUND",
	message: "There is no such swap in this account.",
	next: "fix_request",
	retryable: false,
	requestId,
};
const headers: Record<string, string> = {
	"content-type": "application/json; charset=utf-8",
	"x-request-id": requestId,
	"ratelimit-limit": "400",
	"ratelimit-remaining": "399",
	"ratelimit-reset": "1",
};
const problems = (
	answer: { status?: number; headers?: Record<string, string>; body?: unknown },
	twist: Partial<Draft> = {},
) =>
	check(
		{ ...draft, ...twist },
		{ tookMs: 1, status: 404, headers, ...answer, body: JSON.stringify(answer.body ?? refused) },
	);

test("a documented response has no problems", () => {
	expect(problems({})).toEqual([]);
	const unknown = { ...refused, code: "NOT_FOUND" };
	const bare = { "content-type": "application/json", "x-request-id": requestId };
	expect(problems({ body: unknown, headers: bare }, { isReaching: false })).toEqual([]);
});

test("a response that the document does not allow has problems", () => {
	const without = (name: string) =>
		Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
	for (const wrong of [
		problems({ status: 500 }),
		problems({ status: 404, body: { ...refused, code: "NOT_FOUND" } }),
		problems({ status: 422 }),
		problems({ status: 201 }),
		problems({ status: 200, body: { swapId: "x", status: "done" } }),
		problems({ body: { ...refused, next: "retry" } }),
		problems({ body: { ...refused, requestId: "another" } }),
		problems({ body: { ...refused, message: "" } }),
		problems({ body: { ...refused, message: "There is no such swap in this account" } }),
		problems({ body: "not found" }),
		problems({ headers: without("x-request-id") }),
		problems({ headers: without("ratelimit-reset") }),
		problems({ headers: { ...headers, "content-type": "text/html" } }),
		problems({ headers: { ...headers, "ratelimit-limit": "many" } }),
		problems({ status: 405 }, { isReaching: false }),
		problems({ status: 429, body: { ...refused, code: "RATE_LIMITED" } }),
	]) {
		expect(wrong).not.toEqual([]);
	}
});
