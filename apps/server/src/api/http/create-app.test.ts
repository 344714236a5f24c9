import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import { errorBodySchema, SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { sceneDoc } from "../../../test/api/scene-doc.ts";
import type { ApiKeys } from "../key/api-keys.ts";
import type { RequestLimits } from "../key/rate-limits.ts";
import { createApp } from "./create-app.ts";
import { parseBody } from "./parse-body.ts";
import { parseRequest } from "./parse-request.ts";
import type { PublicRequest, Route } from "./route.ts";

const account = {
	accountId: "account",
	accountCreatedAt: new Date(0),
	keyId: "key",
	limits: {
		rates: { quote: 20, build: 10, submit: 10, delegation: 10, status: 20, list: 10 },
		heldStatusCalls: 50,
	},
};
const apiKeys: ApiKeys = {
	async authenticate(key) {
		if (key !== "right") throw new SwapError("UNAUTHORIZED", undefined);
		return account;
	},
};
function limitsOf({ left }: { left: number }): RequestLimits {
	const stateOf = (isAllowed: boolean) => ({
		isAllowed,
		limit: 400,
		remaining: Math.max(left, 0),
		resetSeconds: 7,
	});
	const take = () => stateOf(left-- > 0);
	return {
		takeForKey: async () => take(),
		takeForAddress: (_, kind) => (kind === "unauthenticated" ? take() : stateOf(true)),
		refusalOf: () => (left < 0 ? stateOf(false) : undefined),
	};
}

const held = Promise.withResolvers<void>();
const isAbandoned = Promise.withResolvers<boolean>();
const echo = async ({ body, query, params }: PublicRequest) => ({ body, query, params });
const routes: Route[] = [
	{ method: "POST", path: "/swap/quote", operation: "quote", doc: sceneDoc, handle: echo },
	{
		method: "GET",
		path: "/swap/status/:swapId",
		operation: "status",
		doc: { ...sceneDoc, query: z.looseObject({}) },
		handle: echo,
	},
	{
		method: "GET",
		path: "/health",
		operation: undefined,
		doc: sceneDoc,
		handle: async () => ({ status: "ok" }),
	},
	{
		method: "GET",
		path: "/docs",
		operation: undefined,
		doc: sceneDoc,
		contentType: "text/html; charset=utf-8",
		handle: async () => "<p>",
	},
	{
		method: "GET",
		path: "/broken",
		operation: undefined,
		doc: sceneDoc,
		handle: async () => {
			throw new Error("the password is swordfish");
		},
	},
	{
		method: "GET",
		path: "/held-with-key",
		operation: "status",
		doc: sceneDoc,
		handle: async (request) => {
			let isGone = false;
			request.onGone(() => {
				isGone = true;
			});
			isAbandoned.resolve(isGone);
			return {};
		},
	},
	{
		method: "GET",
		path: "/held",
		operation: undefined,
		doc: sceneDoc,
		handle: async (request) => {
			held.resolve();
			await new Promise<void>((resolve) => request.onGone(resolve));
			return { status: "as it is" };
		},
	},
];

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

function start({
	left = Number.POSITIVE_INFINITY,
	keys = apiKeys,
	corsOrigins = [],
	rateLimits = limitsOf({ left }),
	logLines,
	bodyTimeoutMs = 8_000,
}: {
	left?: number;
	keys?: ApiKeys;
	corsOrigins?: string[];
	rateLimits?: RequestLimits;
	logLines?: string[];
	bodyTimeoutMs?: number;
} = {}): FastifyInstance {
	const log = pino(
		{ level: logLines ? "debug" : "silent" },
		{ write: (line: string) => logLines?.push(line) },
	);
	const app = createApp({ routes, apiKeys: keys, rateLimits, log, corsOrigins, bodyTimeoutMs });
	apps.push(app);
	return app;
}

type Answer = Awaited<ReturnType<FastifyInstance["inject"]>>;
function expectError(answer: Answer, status: number, code: string): z.infer<typeof errorBodySchema> {
	expect([answer.statusCode, answer.json().code], answer.body).toEqual([status, code]);
	const body = errorBodySchema.parse(answer.json());
	expect(answer.headers["x-request-id"]).toBe(body.requestId);
	expect(answer.headers["content-type"]).toMatch("application/json");
	return body;
}

const json = { "x-api-key": "right", "content-type": "application/json" };

test("a path that does not exist is 404 and a wrong method 405 with Allow, before key, media type and body", async () => {
	const app = start({ left: 0 });
	for (const url of [
		"/",
		"/swap",
		"/swap/quote/x",
		"/swap/status",
		"/%zz",
		"/%ff",
		"/..",
		"/swap/Quote",
		"/*",
	]) {
		expectError(
			await app.inject({ method: "POST", url, headers: { "content-type": "x" }, body: "{" }),
			404,
			"NOT_FOUND",
		);
		expectError(await app.inject({ method: "GET", url }), 404, "NOT_FOUND");
	}
	for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"] as const) {
		const answer = await app.inject({ method, url: "/swap/quote?x=1" });
		expect([answer.statusCode, answer.headers.allow]).toEqual([405, "POST"]);
	}
	const answer = await app.inject({ method: "POST", url: "/swap/status/x", body: "{", headers: json });
	expectError(answer, 405, "METHOD_NOT_ALLOWED");
	expect(answer.headers.allow).toBe("GET, HEAD");
});

test("the key is checked before the rate, and the rate before the body [D-order-2, D-order-3]", async () => {
	const wrong = { method: "POST", url: "/swap/quote", body: "[" } as const;
	const app = start({ left: 1 });
	expectError(await app.inject({ ...wrong, headers: { "content-type": "x" } }), 401, "UNAUTHORIZED");
	// This address has used up its one request without a key.
	const limited = await app.inject({ ...wrong, headers: { "x-api-key": "wrong" } });
	expect(expectError(limited, 429, "RATE_LIMITED").details).toEqual({ reason: "rate", retryAfterSeconds: 7 });
	const above = await app.inject({ ...wrong, headers: { ...json, "content-type": "text/plain" } });
	expectError(above, 429, "RATE_LIMITED");
	expect(above.headers).toMatchObject({
		"retry-after": "7",
		"ratelimit-limit": "400",
		"ratelimit-remaining": "0",
		"ratelimit-reset": "7",
	});
	expect((await app.inject("/health")).statusCode).toBe(200);
});

test("a body must be a JSON object of at most 32 KiB", async () => {
	const app = start();
	const post = (body: string | Buffer, contentType?: string) =>
		app.inject({
			method: "POST",
			url: "/swap/quote",
			body,
			headers: { "x-api-key": "right", ...(contentType !== undefined && { "content-type": contentType }) },
		});
	for (const type of [
		"application/json",
		"Application/JSON",
		"application/json; charset=utf-8",
		"application/json;charset=latin1; a=b",
		'application/json; q="a;b"',
	]) {
		expect((await post('{"a":1}', type)).json(), type).toMatchObject({ body: { a: 1 } });
	}
	for (const type of [
		undefined,
		"text/plain",
		"application/jsonp",
		"application/x-www-form-urlencoded",
		"",
		"json",
	]) {
		expectError(await post("{}", type), 415, "UNSUPPORTED_MEDIA_TYPE");
	}
	for (const body of ["", "null", "[]", "[{}]", "1", '"{}"', "{", "{}x", Buffer.from([0x7b, 0xff, 0x7d])]) {
		const { details } = expectError(await post(body, "application/json"), 400, "INVALID_REQUEST");
		expect(details?.issues).toHaveLength(1);
	}
	expectError(
		await app.inject({ method: "POST", url: "/swap/quote", headers: { "x-api-key": "right" } }),
		400,
		"INVALID_REQUEST",
	);
	for (const type of ["text/plain", "", "json"]) {
		expectError(await post("", type), 400, "INVALID_REQUEST");
	}
	const large = JSON.stringify({ a: "x".repeat(32 * 1024) });
	expectError(await post(large, "application/json"), 413, "BODY_TOO_LARGE");
	// The media type is checked first.
	expectError(await post(large, "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE");
});

test("a body with a duplicate key in one object is refused, even if the key is escaped; the same key in two objects is accepted [D-conventions-35]", async () => {
	const app = start();
	const post = (body: string) =>
		app.inject({
			method: "POST",
			url: "/swap/quote",
			body,
			headers: json,
		});
	for (const [body, path] of [
		['{"amount": "1", "amount": "2"}', "amount"],
		['{"amount": "1", "amount": "1"}', "amount"],
		['{"amount": "1", "\\u0061mount": "2"}', "amount"],
		['{"a": [{"b": 1}, {"b": 1, "c": {}, "b": 2}]}', "b"],
		['{"": 1, "x": "y", "": 2}', ""],
		['{"a\\"}": 1, "b": 2, "a\\"}": 3}', 'a"}'],
		['{"__proto__": 1, "__proto__": 2}', "__proto__"],
		// As many colons as keys that are not kept twice would have.
		['{"a": 1, "a": {"b": ["c:"]}}', "a"],
	]) {
		const { details } = expectError(await post(body ?? ""), 400, "INVALID_REQUEST");
		expect(details?.issues, body).toEqual([{ path, message: expect.stringContaining("send it once") }]);
	}
	for (const body of [
		'{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]}',
		'{"a": "a", "b": "a", "c": "\\"a\\": 1, \\"a\\": 2"}',
		'{"a": ["a", "a"], "b": ["a", {"a": "a"}, "a"]}',
		'{"a": ":::", "b:": 1}',
	]) {
		expect((await post(body)).statusCode, body).toBe(200);
	}
});

test("a text that no database stores is 400 with the name of its field, unless the field is an id or a token that is only decoded [D-conventions-38]", async () => {
	const app = start();
	const post = (body: string) =>
		app.inject({ method: "POST", url: "/swap/quote", body, headers: { ...json } });
	const namesOf = (answer: Awaited<ReturnType<typeof post>>) => {
		const { details } = expectError(answer, 400, "INVALID_REQUEST");
		return ((details?.issues ?? []) as { path: string }[]).map(({ path }) => path).sort();
	};
	for (const [body, ...paths] of [
		['{"url":"https://a.example/\\u0000"}', "url"],
		['{"a":{"b":["x",{"c":"\\ud800"}]},"d":"\\udc00\\ud800"}', "a.b.1.c", "d"],
		['{"x\\u0000":1}', "x\u0000"],
	]) {
		expect(namesOf(await post(body ?? "")), body).toEqual(paths);
	}
	const deep = `{"a":${"[".repeat(16_000)}"\\u0000"${"]".repeat(16_000)}}`;
	expect(namesOf(await post(deep))).toHaveLength(1);
	const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, "\u0000"]));
	expect(namesOf(await post(JSON.stringify(many)))).toHaveLength(20);
	const get = (url: string) => app.inject({ url, headers: json });
	expect(namesOf(await get("/swap/status/x?wait=1%00"))).toEqual(["wait"]);
	expect(namesOf(await get("/swap/status/x?wait=1&wait=%00"))).toEqual(["wait.1"]);
	// The route answers for an id or a token itself. A text that cannot be decoded is an unknown swap, or 401.
	expect((await get("/swap/status/x%00")).statusCode).toBe(200);
	expect((await post('{"geoQuoteToken":"\\u0000"}')).statusCode).toBe(200);
	for (const body of ['{"a":"\\ud83d\\ude00"}', '{"a":"\\u0001\\uffff"}', '{"a":"\\\\u0000"}']) {
		expect((await post(body)).statusCode, body).toBe(200);
	}
});

test("a body that nests as deep as its size allows is parsed", () => {
	const depth = 16_000;
	const body = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
	expect(parseBody(Buffer.from(body))).toHaveProperty("a");
	expect(() => parseBody(Buffer.from(body.replace("{", '{"a":1,')))).toThrow(SwapError);
});

test("a compressed body is 415, regardless of its content, and one with the encoding identity is accepted [D-conventions-37]", async () => {
	const app = start();
	const post = (body: Buffer, encoding: string) =>
		app.inject({
			method: "POST",
			url: "/swap/quote",
			body,
			headers: { ...json, "content-encoding": encoding },
		});
	for (const encoding of ["gzip", "br", "deflate", "GZIP", "zstd", "gzip, identity"]) {
		const { message } = expectError(await post(gzipSync("{}"), encoding), 415, "UNSUPPORTED_MEDIA_TYPE");
		expect(message).toContain("must not be compressed");
	}
	expect((await post(Buffer.from("{}"), "identity")).statusCode).toBe(200);
});

test("a body that stalls is 408 within ten seconds, and the connection ends [D-errors-29]", async () => {
	const timeoutMs = process.env.GEOSWAP_FULL ? 8_000 : 500;
	const app = start({ bodyTimeoutMs: timeoutMs });
	const startMs = performance.now();
	const head =
		"POST /swap/quote HTTP/1.1\r\nhost: a\r\nx-api-key: right\r\ncontent-type: application/json\r\n";
	const answers = await Promise.all([
		answerTo(app, `${head}content-length: 100\r\n\r\n{"a": `),
		answerTo(app, `${head}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n`),
	]);
	expect(performance.now() - startMs).toBeGreaterThan(timeoutMs - 50);
	expect(performance.now() - startMs).toBeLessThan(10_000);
	for (const answer of answers) {
		const [head = "", body = ""] = answer.split("\r\n\r\n");
		expect(head).toMatch(/^HTTP\/1.1 408 /);
		expect(errorBodySchema.parse(JSON.parse(body))).toMatchObject({ code: "REQUEST_TIMEOUT", next: "retry" });
	}
});

test("trailing and doubled slashes are ignored, and any text is accepted as a path parameter", async () => {
	const app = start();
	for (const url of [
		"/swap/status/x",
		"/swap/status/x/",
		"//swap///status//x//?a=//",
		"/swap/status/x/?",
		"http://proxied.example//swap/status/x",
	]) {
		const answer = await app.inject({ url, headers: json });
		expect([answer.statusCode, answer.json().params], url).toEqual([200, { swapId: "x" }]);
	}
	for (const [text, swapId] of [
		["%zz", "%zz"],
		["%ff", "%ff"],
		["%", "%"],
		["a%2Fb", "a/b"],
		["x".repeat(5_000), "x".repeat(5_000)],
	]) {
		const answer = await app.inject({ url: `/swap/status/${text}`, headers: json });
		expect([answer.statusCode, answer.json().params]).toEqual([200, { swapId }]);
	}
	await fc.assert(
		fc.asyncProperty(fc.string({ unit: "grapheme-ascii" }), async (text) => {
			const answer = await app.inject({
				url: `/swap/status/${text}?${text}`.replaceAll(" ", "+"),
				headers: json,
			});
			if (answer.statusCode !== 200) expectError(answer, 404, "NOT_FOUND");
		}),
	);
});

test("each request gets a new id from the server, regardless of the id that the caller sends", async () => {
	const app = start();
	const ids = await Promise.all(
		["/health", "/health", "/nowhere"].map(
			async (url) =>
				(await app.inject({ url, headers: { "x-request-id": "theirs" } })).headers["x-request-id"],
		),
	);
	expect(new Set(ids).size).toBe(3);
	for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
});

test("an error outside the catalogue is logged with its stack, and its response has no details [D-errors-27]", async () => {
	const logLines: string[] = [];
	const answer = await start({ logLines }).inject("/broken");
	const body = expectError(answer, 500, "INTERNAL");
	expect(answer.body).not.toContain("swordfish");
	const line = logLines.find((candidate) => candidate.includes("swordfish"));
	expect(JSON.parse(line ?? "")).toMatchObject({ requestId: body.requestId, path: "/broken" });
	expect(line).toContain("create-app.test.ts");
});

test("a public page needs no key and may be text", async () => {
	const answer = await start().inject("/docs");
	expect([answer.body, answer.headers["content-type"]]).toEqual(["<p>", "text/html; charset=utf-8"]);
});

test("a preflight of a configured origin needs no key; other origins get no CORS headers [D-conventions-32]", async () => {
	const preflight = (origin: string) => ({
		method: "OPTIONS" as const,
		url: "/swap/quote",
		headers: { origin, "access-control-request-method": "POST" },
	});
	const app = start({ corsOrigins: ["https://ours.example"] });
	const ours = await app.inject(preflight("https://ours.example"));
	expect([ours.statusCode, ours.headers["access-control-allow-origin"]]).toEqual([
		200,
		"https://ours.example",
	]);
	expect(ours.headers["access-control-allow-headers"]).toContain("x-api-key");
	const refused = await app.inject({
		method: "POST",
		url: "/swap/quote",
		headers: { origin: "https://ours.example" },
	});
	expect([refused.statusCode, refused.headers["access-control-allow-origin"]]).toEqual([
		401,
		"https://ours.example",
	]);
	for (const other of [
		await app.inject(preflight("https://other.example")),
		await start().inject(preflight("https://ours.example")),
	]) {
		expectError(other, 405, "METHOD_NOT_ALLOWED");
		expect(other.headers["access-control-allow-origin"]).toBeUndefined();
	}
});

function detailsOf(schema: z.ZodType, value: unknown) {
	try {
		parseRequest(schema, value);
	} catch (error) {
		return (error as SwapError).details;
	}
	return undefined;
}

test("an unknown field is named, with the accepted fields and the one that was probably meant", () => {
	const strict = z.strictObject({
		amount: z.string(),
		slippageBps: z.int().optional(),
		inputToken: z.string(),
	});
	expect(detailsOf(strict, { amount: "1", inputToken: "x", slipageBps: 1, zzzzzz: 2 })).toEqual({
		issues: [
			{ path: "slipageBps", message: "unknown field" },
			{ path: "zzzzzz", message: "unknown field" },
		],
		accepted: ["amount", "slippageBps", "inputToken"],
		didYouMean: { slipageBps: "slippageBps" },
	});
	const loose = z.object({
		chainId: z.union([z.int(), z.string().regex(/^\d+$/, "not a chain id")]).transform(Number),
	});
	expect(detailsOf(loose, { chain_id: "1" })).toEqual({
		issues: [{ path: "chainId", message: "required" }],
		accepted: ["chainId"],
		didYouMean: { chain_id: "chainId" },
	});
	expect(detailsOf(loose, { chainId: "x", other: 1 })).toEqual({
		issues: [{ path: "chainId", message: "not a chain id" }],
	});
	expect(detailsOf(loose, { chainId: null })).toEqual({
		issues: [{ path: "chainId", message: "must be a number or a string" }],
	});
});

test("an overlong field name is shown shortened and gets no suggestion", () => {
	const long = "amount".repeat(40);
	const details = detailsOf(z.strictObject({ amount: z.string() }), { amount: "1", [long]: 1 });
	expect(details).toEqual({
		issues: [{ path: `${long.slice(0, 32)}…`, message: "unknown field" }],
		accepted: ["amount"],
	});
});

test("a body with thousands of unknown fields is refused quickly, naming the first 20", () => {
	const strict = z.strictObject({ amount: z.string(), slippageBps: z.int().optional() });
	const full = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`amount${i}`, 1]));
	const startedMs = performance.now();
	for (let round = 0; round < 20; round++) {
		const { issues, didYouMean } = detailsOf(strict, full) as SwapError<"INVALID_REQUEST">["details"];
		expect([issues.length, Object.keys(didYouMean ?? {}).length]).toEqual([20, 20]);
	}
	expect((performance.now() - startedMs) / 20).toBeLessThan(50);
});

/** Returns the answer of a real socket to these bytes. */
async function answerTo(app: FastifyInstance, bytes: string): Promise<string> {
	if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
	const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
	socket.write(bytes);
	let text = "";
	socket.on("data", (data) => {
		text += data;
	});
	await once(socket, "close");
	return text;
}

test("malformed HTTP and CONNECT requests are answered with the service's error body [D-conventions-33]", async () => {
	const app = start();
	for (const bytes of [
		"nonsense\r\n\r\n",
		`GET /health HTTP/1.1\r\nhost: a\r\nlong: ${"x".repeat(20_000)}\r\n\r\n`,
		`GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
		"POST /swap/quote HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
	]) {
		const [head = "", body = ""] = (await answerTo(app, bytes)).split("\r\n\r\n");
		expect(head).toMatch(/^HTTP\/1.1 400 /);
		const error = errorBodySchema.parse(JSON.parse(body));
		expect(error.code).toBe("INVALID_REQUEST");
		expect(head).toContain(`x-request-id: ${error.requestId}`);
	}
	const noHost = await answerTo(
		app,
		"PROPFIND /swap/quote HTTP/1.1\r\nexpect: much\r\nconnection: close\r\n\r\n",
	);
	expect(noHost).toMatch(/^HTTP\/1.1 405 /);
	expect(noHost).toContain("METHOD_NOT_ALLOWED");
	for (const [target, status] of [
		["other.example:443", 404],
		["/swap/quote", 405],
	]) {
		const answer = await answerTo(app, `CONNECT ${target} HTTP/1.1\r\nhost: a\r\n\r\n`);
		const [head = "", body = ""] = answer.split("\r\n\r\n");
		expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
		expect(head.includes("\r\nallow: POST")).toBe(status === 405);
		errorBodySchema.parse(JSON.parse(body));
	}
});

test("a caller that sends malformed HTTP and never closes is disconnected", async () => {
	const app = start();
	await app.listen({ host: "127.0.0.1", port: 0 });
	const { port } = app.server.address() as AddressInfo;
	for (const bytes of ["nonsense\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n"]) {
		const left = new Promise((resolve) =>
			app.server.once("connection", (socket) => socket.once("close", resolve)),
		);
		const caller = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
		caller.resume();
		caller.write(bytes);
		await left;
		caller.destroy();
	}
});

test("an address that sends too many CONNECTs is disconnected, and its preflights are still answered", async () => {
	const app = start({
		corsOrigins: ["https://ours.example"],
		rateLimits: {
			...limitsOf({ left: 9 }),
			takeForAddress: (_, kind) => ({
				isAllowed: kind === "preflight",
				limit: 1,
				remaining: 0,
				resetSeconds: 1,
			}),
		},
	});
	expect(await answerTo(app, "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n")).toBe("");
	expectError(await app.inject("/nowhere"), 429, "RATE_LIMITED");
	const preflight = await app.inject({
		method: "OPTIONS",
		url: "/swap/quote",
		headers: { origin: "https://ours.example", "access-control-request-method": "POST" },
	});
	expect(preflight.statusCode).toBe(200);
});

test("on shutdown held calls are answered with the current state, and new connections are refused", async () => {
	const app = start();
	await app.listen({ host: "127.0.0.1", port: 0 });
	const { port } = app.server.address() as AddressInfo;
	const answer = fetch(`http://127.0.0.1:${port}/held`);
	await held.promise;
	const closed = app.close();
	expect(await (await answer).json()).toEqual({ status: "as it is" });
	await closed;
	await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
});

test("the signal of a handler is aborted if the caller left while its key was looked up", async () => {
	const asked = Promise.withResolvers<void>();
	const lookedUp = Promise.withResolvers<typeof account>();
	const app = start({
		keys: {
			authenticate() {
				asked.resolve();
				return lookedUp.promise;
			},
		},
	});
	await app.listen({ host: "127.0.0.1", port: 0 });
	const gone = new Promise((resolve) =>
		app.server.once("connection", (socket) => socket.once("close", resolve)),
	);
	const caller = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
	caller.write("GET /held-with-key HTTP/1.1\r\nhost: a\r\nx-api-key: right\r\n\r\n");
	await asked.promise;
	caller.destroy();
	await gone;
	lookedUp.resolve(account);
	expect(await isAbandoned.promise).toBe(true);
});
