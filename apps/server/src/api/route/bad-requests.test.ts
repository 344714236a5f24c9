import { SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { routesWithoutParts } from "../../../test/api/routes-without-parts.ts";
import { createApp } from "../http/create-app.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { decodedFields } from "../http/unstorable-text.ts";

const routes = routesWithoutParts();

const allowed = { isAllowed: true, limit: 1, remaining: 1, resetSeconds: 1 };
const app = createApp({
	routes,
	apiKeys: {
		authenticate: async () => ({
			accountId: "account",
			accountCreatedAt: new Date(0),
			keyId: "key",
			limits: {
				rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 },
				heldStatusCalls: 1,
			},
		}),
	},
	rateLimits: {
		takeForKey: async () => allowed,
		takeForAddress: () => allowed,
		refusalOf: () => undefined,
	},
	log: pino({ level: "silent" }),
});

/** Replaces every text of the schema library that could reach a caller. */
const libraryText = "a text of the library";
const { localeError } = z.config();
beforeAll(() => {
	z.config({ localeError: () => libraryText });
});
afterAll(async () => {
	z.config({ localeError });
	await app.close();
});

const isPage = ({ contentType = "" }: Route) => contentType.startsWith("text/html");
const gets = routes.filter((route) => route.method === "GET" && !isPage(route));

test.each(gets.map((route) => [route.path, route] as const))(
	"GET %s refuses an unknown query parameter and lists the accepted ones [D-conventions-36]",
	async (path, { doc }) => {
		const { params = {}, query = {} } = doc.example;
		const filled = path.replaceAll(/:(\w+)/g, (_, name) => params[name] ?? "");
		for (const name of ["nonsense", "Wait", "__proto__", ""]) {
			const search = new URLSearchParams([...Object.entries(query), [name, "1"]]);
			const answer = await app.inject({ url: `${filled}?${search}` });
			expect([answer.statusCode, answer.json().code]).toEqual([400, "INVALID_REQUEST"]);
			expect(answer.json().details).toMatchObject({
				issues: [{ path: name, message: "unknown field" }],
				accepted: Object.keys(doc.query?.shape ?? {}),
			});
		}
	},
);

const inputs = routes.flatMap(({ method, path, doc }) => [
	...[...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({ method, path, doc, place: "path", name })),
	...Object.keys(doc.query?.shape ?? {}).map((name) => ({ method, path, doc, place: "query", name })),
	...Object.keys(doc.body?.shape ?? {}).map((name) => ({ method, path, doc, place: "body", name })),
]);

test.each(inputs)(
	"$method $path refuses text that no database stores in the $name of its $place",
	async ({ method, path, doc, place, name }) => {
		const { params = {}, query = {}, body = {} } = doc.example;
		const send = (value: string) => {
			const fieldsOf = (fields: object, of: string) => (place === of ? { ...fields, [name]: value } : fields);
			const filled = fieldsOf(params, "path") as Record<string, string>;
			const search = new URLSearchParams(fieldsOf(query, "query") as Record<string, string>);
			return app.inject({
				method,
				url: `${path.replaceAll(/:(\w+)/g, (_, of) => encodeURIComponent(filled[of] ?? ""))}?${search}`,
				...(method === "POST" && { payload: fieldsOf(body as object, "body") }),
			});
		};
		// A URL cannot contain half of a surrogate pair.
		for (const value of ["\u0000", "a\u0000b", ...(place === "body" ? ["\ud800", "x\udfff"] : [])]) {
			const answer = await send(value);
			if (decodedFields.includes(name)) {
				expect([401, 404], answer.body).toContain(answer.statusCode);
				continue;
			}
			expect([answer.statusCode, answer.json().code], value).toEqual([400, "INVALID_REQUEST"]);
			expect(answer.json().details.issues).toEqual([
				{ path: name, message: expect.stringContaining("U+0000") },
			]);
		}
	},
);

test("a docs page accepts any query parameter", async () => {
	expect((await app.inject({ url: "/docs?utm_source=somewhere" })).statusCode).toBe(200);
});

/** Generates anything that may be sent in place of a field. */
const anything = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom("", "0x", "0x1", "-1", "1.5", "01", "9".repeat(80), 0, -1, 1.5, 1e300, 5_001, true, null),
);
const schemas = routes.flatMap(({ method, path, doc }) =>
	[doc.body, doc.query].flatMap((schema) => (schema ? [[`${method} ${path}`, schema] as const] : [])),
);

test.each(schemas)(
	"the response to a bad request of %s contains no text of the schema library",
	(_, schema) => {
		const names = Object.keys(schema.shape);
		const authorization = fc.record(
			Object.fromEntries(
				["chainId", "address", "nonce", "yParity", "r", "s"].map((name) => [name, anything] as const),
			),
			{ requiredKeys: [] },
		);
		const bodies = fc.record(
			Object.fromEntries(
				[...names, "other"].map((name) => [
					name,
					name === "authorization" ? fc.oneof(anything, authorization) : anything,
				]),
			),
			{ requiredKeys: [] },
		);
		let refusals = 0;
		fc.assert(
			fc.property(fc.oneof(bodies, anything), (body) => {
				const issues = issuesOf(schema, body);
				refusals += issues.length > 0 ? 1 : 0;
				for (const { message } of issues) {
					expect(message).not.toContain(libraryText);
					expect(message).not.toMatch(/invalid|expected|received|undefined|NaN|\[object/i);
					expect(message).toMatch(/^[a-z].{4,}[^.]$/);
				}
			}),
			{ numRuns: 500 },
		);
		expect(refusals).toBeGreaterThan(100);
	},
);

function issuesOf(schema: z.ZodType, value: unknown): { path: string; message: string }[] {
	try {
		parseRequest(schema, value);
		return [];
	} catch (error) {
		if (!(error instanceof SwapError) || error.code !== "INVALID_REQUEST") throw error;
		return (error as SwapError<"INVALID_REQUEST">).details.issues;
	}
}
