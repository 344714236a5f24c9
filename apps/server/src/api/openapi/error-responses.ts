import { type ErrorCode, errorCatalogue, errorCodes } from "@geoswap/protocol";
import { errorExample, errorSchema, errorSchemaName, otherErrorSchema } from "./error-schema.ts";
import { type JsonSchema, responseJsonSchema } from "./json-schema.ts";
import type { Answer, OpenapiDocument, Reference } from "./openapi-document.ts";

const requestIdHeader = { "x-request-id": { $ref: "#/components/headers/x-request-id" } };
const rateHeaders = Object.fromEntries(
	["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => [
		name,
		{ $ref: `#/components/headers/${name}` },
	]),
);

/** Returns the headers of every answer, with the rate headers if the request counts against a key. */
export function headersOf({ hasKey }: { hasKey: boolean }): Record<string, Reference> {
	return { ...requestIdHeader, ...(hasKey && rateHeaders) };
}

/** Returns the answers of an operation that can fail with these codes, by HTTP status. */
export function errorResponses(
	codes: readonly ErrorCode[],
	{ hasKey }: { hasKey: boolean },
): Record<string, Answer> {
	const byStatus = Object.groupBy(
		errorCodes.filter((code) => codes.includes(code)),
		(code) => errorCatalogue[code].http,
	);
	return Object.fromEntries(
		Object.entries(byStatus).map(([status, ofStatus = []]) => [
			status,
			errorAnswer(ofStatus, {
				description: ofStatus.map((code) => `\`${code}\`: ${errorCatalogue[code].message}`).join("\n\n"),
				headers: {
					...headersOf({ hasKey: status === "429" || (hasKey && status !== "401") }),
					...(status === "429" && { "retry-after": { $ref: "#/components/headers/retry-after" } }),
				},
			}),
		]),
	);
}

/** Returns the answer for every other error. */
export function anyErrorResponse(): Answer {
	return {
		description:
			"Any other error. A path that does not exist is 404 `NOT_FOUND`; a method that a path does not support is 405 `METHOD_NOT_ALLOWED`, with `Allow`. Both are checked before the key.",
		headers: requestIdHeader,
		content: {
			"application/json": {
				schema: { $ref: "#/components/schemas/ErrorBody" },
				examples: examplesOf(["NOT_FOUND", "METHOD_NOT_ALLOWED"]),
			},
		},
	};
}

function errorAnswer(codes: ErrorCode[], { description, headers }: Omit<Answer, "content">): Answer {
	const schemas = codes.map(refTo);
	const [only] = schemas;
	return {
		description,
		headers,
		content: {
			"application/json": {
				schema: schemas.length === 1 && only ? only : { oneOf: schemas },
				examples: examplesOf(codes),
			},
		},
	};
}

/**
 * Returns the exact schema of each error, `KnownError` for any one of them, and `ErrorBody`, which also allows
 * unknown errors.
 */
export function errorSchemas(): Record<string, JsonSchema> {
	return {
		ErrorBody: {
			description:
				"The body of every error: one of this version's errors, or one that a later version may add.",
			anyOf: [{ $ref: "#/components/schemas/KnownError" }, { $ref: "#/components/schemas/OtherError" }],
		},
		KnownError: {
			description: "The errors of this version, exactly.",
			oneOf: errorCodes.map(refTo),
			discriminator: {
				propertyName: "code",
				mapping: Object.fromEntries(errorCodes.map((code) => [code, refTo(code).$ref])),
			},
		},
		OtherError: responseJsonSchema(otherErrorSchema),
		...Object.fromEntries(
			errorCodes.map((code) => [errorSchemaName(code), responseJsonSchema(errorSchema(code))]),
		),
	};
}

export function errorExamples(): OpenapiDocument["components"]["examples"] {
	return Object.fromEntries(
		errorCodes.map((code) => [code, { summary: code, value: errorExample(code) }] as const),
	);
}

function examplesOf(codes: ErrorCode[]): Record<string, Reference> {
	return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

function refTo(code: ErrorCode): Reference {
	return { $ref: `#/components/schemas/${errorSchemaName(code)}` };
}
