import {
	errorBodySchema,
	errorCatalogue,
	errorCodes,
	fromSolanaWord,
	openTransaction,
	orderDigest,
	orderId,
	orderSchema,
	SwapError,
	solanaAddressSchema,
} from "@geoswap/protocol";
import { type Hex, hashTypedData, hexToBytes, recoverMessageAddress, type TypedDataDefinition } from "viem";
import { recoverAuthorizationAddress } from "viem/utils";
import { expect, test } from "vitest";
import * as z from "zod";
import { routesWithoutParts } from "../../../test/api/routes-without-parts.ts";
import {
	decodeWireTransaction,
	verifyWalletSignature,
} from "../../chain/solana/wallet/check-signed-transaction.ts";
import { createOpenapi } from "./create-openapi.ts";
import { errorExample, errorSchema } from "./error-schema.ts";
import {
	exampleSignedTransaction,
	exampleSolanaOp,
	exampleUnsignedTransaction,
} from "./examples/example-solana-swap.ts";
import {
	exampleAuthorization,
	exampleGeoOp,
	exampleGeoOpHash,
	exampleSignature,
	exampleWallet,
} from "./examples/example-swap.ts";
import type { Answer, Operation } from "./openapi-document.ts";

const routes = routesWithoutParts();
const document = createOpenapi(routes);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
);
const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);

test("every route is in the document, with a unique operation id", () => {
	expect(operations.map(([name]) => name.replaceAll(/\{(\w+)\}/g, ":$1")).sort()).toEqual(
		named.map(([name]) => name.replace(/^\w+/, (method) => method.toLowerCase())).sort(),
	);
	const ids = operations.map(([, { operationId }]) => operationId);
	expect(new Set(ids).size).toBe(ids.length);
});

test.each(named)("the examples of %s match its schemas", (_, { doc, path }) => {
	const { query, params = {}, body, response } = doc.example;
	if (doc.query) doc.query.parse(query);
	if (doc.body) doc.body.parse(body);
	if (doc.response instanceof z.ZodType) doc.response.parse(response);
	expect(Object.keys(params)).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
	expect(Object.keys(doc.params ?? {})).toEqual(Object.keys(params));
});

/** Returns every object in a part of the document, with its path. */
function objectsIn(part: unknown, path = ""): [path: string, object: Record<string, unknown>][] {
	if (typeof part !== "object" || part === null) return [];
	const inner = Object.entries(part).flatMap(([name, value]) =>
		["example", "examples"].includes(name) ? [] : objectsIn(value, `${path}/${name}`),
	);
	return [[path, part as Record<string, unknown>], ...inner];
}

test("every property, parameter and header of the document has a description", () => {
	const described = objectsIn(document).flatMap(([path, { properties = {}, parameters = [] }]) => [
		...Object.entries(properties as object).map(([name, schema]) => [`${path} ${name}`, schema]),
		...Object.values(parameters as object).map((parameter) => [`${path} ${parameter.name}`, parameter]),
		...(path === "/components/headers" ? Object.entries(document.components.headers) : []),
	]);
	expect(described.length).toBeGreaterThan(200);
	const without = described.filter(([, { description = "" }]) => !/^.{5,}/.test(description));
	expect(without.map(([path]) => path)).toEqual([]);
});

test("enums that may grow are marked as extensible, and exactly these are closed", () => {
	const fieldsWith = (keyword: string) =>
		objectsIn(document)
			.filter(([, object]) => Array.isArray(object[keyword]))
			// The enum of a list, or of a nullable field, is one level below its field.
			.map(([path]) =>
				path
					.replace(/\/(items|anyOf\/0)$/, "")
					.split("/")
					.at(-1),
			);
	// The `enum` in `schema` is that of the status in a query.
	expect(new Set(fieldsWith("enum"))).toEqual(
		new Set(["holder", "next", "origin", "schema", "side", "signatureKind", "status"]),
	);
	expect(new Set(fieldsWith("x-extensible-enum"))).toEqual(
		new Set(["accepts", "stage", "code", "kind", "reason", "removal", "state"]),
	);
});

test("the query parameters wait and limit are integers", () => {
	const parameters = operations.flatMap(([, operation]) => operation.parameters ?? []);
	for (const name of ["wait", "limit"]) {
		expect(parameters.find((parameter) => parameter.name === name)).toMatchObject({
			schema: { type: "integer", minimum: expect.any(Number), maximum: expect.any(Number) },
			example: expect.any(Number),
		});
	}
});

test("the example swap is real, because its hash, its signatures and its transaction can be reproduced", async () => {
	const order = orderSchema.parse(exampleGeoOp.order);
	const hash = hashTypedData(exampleGeoOp.typedData as unknown as TypedDataDefinition);
	expect([hash, orderDigest(order)]).toEqual([exampleGeoOpHash, exampleGeoOpHash]);
	expect(orderId(order)).toBe(exampleGeoOp.orderId);
	const signature = exampleSignature as Hex;
	expect(await recoverMessageAddress({ message: { raw: hash }, signature })).toBe(exampleWallet);
	const { r, s, yParity, chainId, nonce } = exampleAuthorization;
	const signed = {
		authorization: { chainId, nonce, address: exampleAuthorization.address as Hex },
		signature: { r: r as Hex, s: s as Hex, yParity },
	};
	expect(await recoverAuthorizationAddress(signed)).toBe(exampleWallet);

	const solanaOrder = orderSchema.parse(exampleSolanaOp.order);
	expect(orderId(solanaOrder)).toBe(exampleSolanaOp.orderId);
	const message = new Uint8Array(Buffer.from(exampleSolanaOp.message, "base64"));
	const unsigned = decodeWireTransaction(Buffer.from(exampleUnsignedTransaction, "base64"));
	const transaction = decodeWireTransaction(Buffer.from(exampleSignedTransaction, "base64"));
	expect([unsigned?.message, transaction?.message]).toEqual([message, message]);
	const assets = [{ address: fromSolanaWord(solanaOrder.inputToken), decimals: 6 }] as never;
	const parts = {
		feePayer: solanaAddressSchema.parse(exampleSolanaOp.feePayer),
		blockhash: exampleSolanaOp.blockhash,
		compute: {
			unitLimit: exampleSolanaOp.compute.unitLimit,
			microLamportsPerUnit: BigInt(exampleSolanaOp.compute.microLamportsPerUnit),
		},
	};
	expect((await openTransaction({ assets }, solanaOrder, parts)).message).toEqual(message);
	expect(exampleSolanaOp.escrow).toBe(fromSolanaWord(solanaOrder.escrow));
	const wallet = solanaAddressSchema.parse("F25s3DdjXdCxYBhh2z8FBusVEMT4b9bGNFVKJi3wFoF4");
	const walletSignature = transaction?.signatures[1] ?? new Uint8Array();
	expect(await verifyWalletSignature({ wallet, message, signature: walletSignature })).toBe(true);
	expect(hexToBytes(exampleSolanaOp.order.wallet as Hex)).toHaveLength(32);
});

test.each(errorCodes)("the example of %s matches its entry in the catalogue", (code) => {
	const example = errorExample(code);
	expect(errorBodySchema.parse(example)).toEqual(example);
	expect(errorSchema(code).parse(example)).toEqual(example);
	const { next } = errorCatalogue[code];
	const { message } = new SwapError(code, example.details as never);
	expect(example).toMatchObject({ code, next, message });
	expect(message, "details are named by their values").not.toContain("details.");
});

function errorsOf({ responses }: Operation): string[] {
	return Object.values(responses).flatMap((response) =>
		Object.keys((response as Answer).content?.["application/json"]?.examples ?? {}),
	);
}

test.each(operations)(
	"%s documents the errors that every endpoint of its kind can return",
	(name, operation) => {
		const hasKey = operation.security.length > 0;
		expect(errorsOf(operation)).toEqual(expect.arrayContaining(["INVALID_REQUEST", "INTERNAL"]));
		expect(errorsOf(operation).includes("UNAUTHORIZED")).toBe(hasKey);
		const isUnlimited = routes.some(
			(route) => route.operation === undefined && route.isUnlimited && route.doc.id === operation.operationId,
		);
		expect(errorsOf(operation).includes("RATE_LIMITED")).toBe(!isUnlimited);
		expect(errorsOf(operation).includes("BODY_TOO_LARGE")).toBe(name.startsWith("post"));
		expect(operation.description.length).toBeGreaterThan(20);
		expect(Object.values((operation.responses["200"] as Answer).content)[0]?.example).toBeDefined();
		if (operation.requestBody) {
			expect(operation.requestBody.content["application/json"]?.example).toBeDefined();
		}
	},
);

test("every error is documented under its own status, and all but METHOD_NOT_ALLOWED by some endpoint", () => {
	const statuses = new Map(
		operations.flatMap(([, { responses }]) =>
			Object.entries(responses).flatMap(([status, response]) =>
				Object.keys((response as Answer).content?.["application/json"]?.examples ?? {}).map(
					(code) => [code, Number(status)] as const,
				),
			),
		),
	);
	for (const code of errorCodes) {
		expect(statuses.get(code), code).toBe(
			code === "METHOD_NOT_ALLOWED" ? undefined : errorCatalogue[code].http,
		);
	}
});

test("responses allow new fields, and a quote's request and a submit's request with its mandate allow no unknown ones", () => {
	const { schemas } = document.components;
	const closed = Object.entries(schemas).filter(([, schema]) =>
		JSON.stringify(schema).includes('"additionalProperties":false'),
	);
	expect(closed.map(([name]) => name)).toEqual(["QuoteRequest", "SubmitRequest"]);
});

test("an amount is a string of digits or a safe integer, and an optional field may be null", () => {
	type Properties = Record<string, { anyOf: unknown[] }>;
	const { amount, recipient } = (document.components.schemas.QuoteRequest?.properties ?? {}) as Properties;
	expect(amount?.anyOf).toEqual([
		{ type: "string", pattern: "^[1-9]\\d{0,77}$" },
		{ type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
	]);
	expect(recipient?.anyOf).toEqual([{ type: "string", minLength: 1 }, { type: "null" }]);
});
