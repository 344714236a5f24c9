import { type ErrorCode, errorCatalogue, errorCodes } from "@geoswap/protocol";
import * as z from "zod";
import { errorExample, errorSchema, errorSchemaName, otherErrorSchema } from "./error-schema.ts";
import {
	type Answer,
	interfaceVersion,
	type JsonSchema,
	type MediaType,
	type OpenapiDocument,
	type Operation,
	type Parameter,
	type Reference,
	requestJsonSchema,
	responseJsonSchema,
} from "./openapi-document.ts";
import type { DocumentedRoute } from "./route-doc.ts";

const description = `Geoswap swaps a token on one chain into a token on another, for a wallet that holds no gas token, with one
signature. Gas comes out of the input. The swap either delivers or gives the whole input back.

A swap has five steps: quote, build, sign, submit, poll. The service's \`/docs\` explains them, and what all endpoints have
in common. Every error has a page at \`/docs/errors/{code}\`.

Success is always 200. Every error has the same body, \`ErrorBody\`: \`code\` and \`next\` are for programs, \`message\` is for
people. A path that does not exist is 404 \`NOT_FOUND\`; a method that a path does not support is 405 \`METHOD_NOT_ALLOWED\`,
with \`Allow\`. Both are checked before the key. Later versions may add fields to objects, and values to lists that are marked
\`x-extensible-enum\`: clients must tolerate those they do not know.`;

const tags = [
	{ name: "Swap", description: "The steps of a swap." },
	{ name: "Lists", description: "The chains and tokens that are offered, and the account's swaps." },
	{ name: "Service", description: "The service itself. No key is needed." },
];

/** Returns the OpenAPI document of a list of routes. */
export function createOpenapi(routes: readonly DocumentedRoute[]): OpenapiDocument {
	const schemas: Record<string, JsonSchema> = {};
	const paths: OpenapiDocument["paths"] = {};
	for (const route of routes) {
		const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
		paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "Geoswap",
			summary: "Gasless swaps across chains, with one signature.",
			description,
			version: interfaceVersion,
			license: { name: "MIT", identifier: "MIT" },
		},
		servers: [{ url: "/" }],
		tags,
		paths,
		components: {
			securitySchemes: {
				apiKey: {
					type: "apiKey",
					in: "header",
					name: "x-api-key",
					description: "An API key that the operator has created. It identifies the account and its limits.",
				},
			},
			headers: {
				"x-request-id": {
					description: "The request's id, to give to the operator.",
					schema: { type: "string" },
					example: "7b0d2a4e-6f0c-4a53-9d0e-2f5b1c3a8e64",
				},
				"ratelimit-limit": integerHeader(
					"The number of requests of this kind that the key can make at once.",
					400,
				),
				"ratelimit-remaining": integerHeader("The number of these requests that are left.", 399),
				"ratelimit-reset": integerHeader("The number of seconds until more requests are available.", 1),
				"retry-after": integerHeader("The number of seconds to wait.", 1),
			},
			examples: errorExamples(),
			responses: { AnyError: anyErrorResponse() },
			schemas: { ...schemas, ...errorSchemas() },
		},
	};
}

function integerHeader(description: string, example: number) {
	return { description, schema: { type: "integer" }, example };
}

/** Returns the operation of a route, and adds the schemas that it references. */
function operationOf(
	{ method, path, operation, isUnlimited = false, doc }: DocumentedRoute,
	schemas: Record<string, JsonSchema>,
): Operation {
	const hasKey = operation !== undefined;
	const name = `${doc.id[0]?.toUpperCase()}${doc.id.slice(1)}`;
	const parameters = [...pathParameters(path, doc), ...queryParameters(doc)];
	return {
		operationId: doc.id,
		tags: [operation === undefined ? "Service" : operation === "list" ? "Lists" : "Swap"],
		summary: doc.summary,
		description: doc.description,
		security: hasKey ? [{ apiKey: [] }] : [],
		...(parameters.length > 0 && { parameters }),
		...(doc.body && {
			requestBody: {
				required: true,
				content: {
					"application/json": {
						schema: component(`${name}Request`, requestJsonSchema(doc.body)),
						example: doc.example.body,
					},
				},
			},
		}),
		responses: {
			"200": answerOf(),
			...errorResponses([...commonErrors({ method, hasKey, isUnlimited }), ...doc.errors], { hasKey }),
			default: { $ref: "#/components/responses/AnyError" },
		},
	};

	function answerOf(): Answer {
		const { response, example } = doc;
		const headers = {
			...headersOf({ hasKey }),
			...(doc.mayAskToWait && { "retry-after": { $ref: "#/components/headers/retry-after" } }),
		};
		if (!(response instanceof z.ZodType)) {
			const page: MediaType = { schema: { type: "string" }, example: example.response };
			return { description: response.description, headers, content: { [response.contentType]: page } };
		}
		const schema = component(`${name}Response`, responseJsonSchema(response));
		return {
			description: `${doc.summary}.`,
			headers,
			content: { "application/json": { schema, example: example.response } },
		};
	}

	function component(key: string, schema: JsonSchema): { $ref: string } {
		schemas[key] = schema;
		return { $ref: `#/components/schemas/${key}` };
	}
}

/**
 * Returns the errors that every endpoint of a kind can return. Input that is not HTTP counts as a malformed request.
 */
function commonErrors({
	method,
	hasKey,
	isUnlimited,
}: {
	method: string;
	hasKey: boolean;
	isUnlimited: boolean;
}): ErrorCode[] {
	return [
		...(["INVALID_REQUEST", "INTERNAL"] as const),
		...(isUnlimited ? [] : (["RATE_LIMITED"] as const)),
		...(hasKey ? (["UNAUTHORIZED", "UPSTREAM_UNAVAILABLE"] as const) : []),
		...(method === "POST" ? (["REQUEST_TIMEOUT", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
	];
}

function pathParameters(path: string, { params = {}, example }: DocumentedRoute["doc"]): Parameter[] {
	return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) =>
		parameter({
			name,
			in: "path",
			required: true,
			schema: { type: "string", ...(params[name] && { description: params[name] }) },
			example: example.params?.[name],
		}),
	);
}

function queryParameters({ query, example }: DocumentedRoute["doc"]): Parameter[] {
	if (!query) return [];
	const { properties = {}, required = [] } = requestJsonSchema(query) as {
		properties?: Record<string, JsonSchema>;
		required?: string[];
	};
	return Object.entries(properties).map(([name, schema]) =>
		parameter({
			name,
			in: "query",
			required: required.includes(name),
			schema,
			example: queryExample(schema, example.query?.[name]),
		}),
	);
}

function queryExample({ type }: JsonSchema, text: string | undefined): string | number | undefined {
	return type === "integer" && text !== undefined ? Number(text) : text;
}

/** Moves the schema's description to the parameter. */
function parameter({
	schema: { description, ...schema },
	example,
	...rest
}: Omit<Parameter, "example"> & { example: string | number | undefined }): Parameter {
	return {
		...rest,
		...(typeof description === "string" && { description }),
		schema,
		...(example !== undefined && { example }),
	};
}

const requestIdHeader = { "x-request-id": { $ref: "#/components/headers/x-request-id" } };
const rateHeaders = Object.fromEntries(
	["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => [
		name,
		{ $ref: `#/components/headers/${name}` },
	]),
);

/** Returns the headers of every answer, with the rate headers if the request counts against a key. */
function headersOf({ hasKey }: { hasKey: boolean }): Record<string, Reference> {
	return { ...requestIdHeader, ...(hasKey && rateHeaders) };
}

/** Returns the answers of an operation that can fail with these codes, by HTTP status. */
function errorResponses(
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
function anyErrorResponse(): Answer {
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
function errorSchemas(): Record<string, JsonSchema> {
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

function errorExamples(): OpenapiDocument["components"]["examples"] {
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
