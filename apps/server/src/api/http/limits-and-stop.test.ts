import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { errorBodySchema, SwapError } from "@geoswap/protocol";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { routesWithoutParts } from "../../../test/api/routes-without-parts.ts";
import { sceneDoc } from "../../../test/api/scene-doc.ts";
import type { ApiKeys } from "../key/api-keys.ts";
import { createRateLimits } from "../key/rate-limits.ts";
import { createApp } from "./create-app.ts";
import type { Route } from "./route.ts";

const key = `geosk_${"0".repeat(60)}`;
const rates = { quote: 1_000, build: 10, submit: 10, delegation: 10, status: 1_000, list: 10 };
const account = {
	accountId: "account",
	accountCreatedAt: new Date(0),
	keyId: "key",
	limits: { rates, heldStatusCalls: 50 },
};

/** Creates keys that count how often one was looked up. */
function countedKeys(): ApiKeys & { looks: number } {
	return {
		looks: 0,
		async authenticate(shown) {
			this.looks++;
			if (shown !== key) throw new SwapError("UNAUTHORIZED", undefined);
			return account;
		},
	};
}

const routes: Route[] = [
	{
		method: "POST",
		path: "/swap/quote",
		operation: "quote",
		doc: sceneDoc,
		handle: async () => ({ status: "quoted" }),
	},
	{
		method: "GET",
		path: "/held",
		operation: "status",
		doc: sceneDoc,
		handle: async (request) => {
			await new Promise<void>((resolve) => request.onGone(resolve));
			return { status: "as it is" };
		},
	},
	{
		method: "GET",
		path: "/health",
		operation: undefined,
		doc: sceneDoc,
		isUnlimited: true,
		handle: async () => ({}),
	},
	{ method: "GET", path: "/docs", operation: undefined, doc: sceneDoc, handle: async () => ({}) },
];

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

/** Starts a server that allows two requests without a key and twenty pages per address. */
function start({
	apiKeys = countedKeys(),
	trustedProxies = [],
	stopping,
}: {
	apiKeys?: ApiKeys;
	trustedProxies?: string[];
	stopping?: AbortSignal;
} = {}): FastifyInstance {
	const app = createApp({
		routes,
		apiKeys,
		rateLimits: createRateLimits({
			redis: { run: async () => undefined, close: () => {} },
			unauthenticatedPerSecond: 0.1,
		}),
		log: pino({ level: "silent" }),
		trustedProxies,
		...(stopping && { stopping }),
	});
	apps.push(app);
	return app;
}

const quote = { method: "POST", url: "/swap/quote", body: {} } as const;
const keyed = { ...quote, headers: { "x-api-key": key } };

test("an address above its limit is refused before its key is looked up, unless the key has a valid form", async () => {
	const apiKeys = countedKeys();
	const app = start({ apiKeys });
	const statuses = [];
	for (let i = 0; i < 3; i++) statuses.push((await app.inject(quote)).statusCode);
	expect(statuses).toEqual([401, 401, 429]);
	const looks = apiKeys.looks;
	for (const headers of [{}, { "x-api-key": "" }, { "x-api-key": "guess" }]) {
		const answer = await app.inject({ ...quote, headers });
		const body = errorBodySchema.parse(answer.json());
		expect([answer.statusCode, body.code, body.details]).toEqual([
			...[429, "RATE_LIMITED"],
			{ reason: "rate", retryAfterSeconds: 10 },
		]);
		expect(answer.headers).toMatchObject({
			"x-request-id": body.requestId,
			"retry-after": "10",
			"ratelimit-limit": "2",
			"ratelimit-remaining": "0",
			"ratelimit-reset": "10",
			"content-type": "application/json; charset=utf-8",
		});
		expect(answer.headers.connection).not.toBe("close");
	}
	expect(apiKeys.looks).toBe(looks);
	expect((await app.inject(keyed)).statusCode).toBe(200);
	expect((await app.inject({ ...quote, headers: { "x-api-key": key.replace("0", "1") } })).statusCode).toBe(
		429,
	);
	expect((await app.inject({ ...quote, remoteAddress: "10.9.9.9" })).statusCode).toBe(401);
});

test("pages and unknown paths are limited by address too, and health checks never are", async () => {
	const app = start();
	const statuses = [];
	for (let i = 0; i < 21; i++) {
		statuses.push((await app.inject(i % 2 === 0 ? "/docs" : "/nowhere")).statusCode);
	}
	expect(statuses).toEqual([...Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 200 : 404)), 429]);
	for (let i = 0; i < 50; i++) expect((await app.inject("/health")).statusCode).toBe(200);
	expect((await app.inject(keyed)).statusCode).toBe(200);
});

test("every endpoint is limited by key or by address, except /health and /ready", () => {
	const all = routesWithoutParts();
	const paths = (routes: Route[]) => routes.map(({ path }) => path).toSorted();
	expect(paths(all.filter(({ operation }) => operation === undefined))).toEqual(
		paths(
			all.filter(({ path }) =>
				/^\/($|docs|openapi\.json|errors|health|ready|stats|s\/|SKILL\.md|llms)/.test(path),
			),
		),
	);
	expect(paths(all.filter((route) => route.operation === undefined && route.isUnlimited))).toEqual([
		"/health",
		"/ready",
	]);
});

test("the caller's address is taken from X-Forwarded-For only if a trusted proxy sent it", async () => {
	const sent = async (app: FastifyInstance, forwarded: string, remoteAddress: string) =>
		(await app.inject({ ...quote, remoteAddress, headers: { "x-forwarded-for": forwarded } })).statusCode;
	const app = start({ trustedProxies: ["10.0.0.0/8", "fd00::/8"] });
	for (const proxy of ["10.1.2.3", "::ffff:10.1.2.3", "fd00::1"]) {
		expect(await sent(app, `198.51.100.${proxy.length}`, proxy)).toBe(401);
	}
	const flood = [];
	for (let i = 0; i < 3; i++) flood.push(await sent(app, `192.0.2.${i}, 203.0.113.7`, "10.1.2.3"));
	expect(flood).toEqual([401, 401, 429]);
	expect(await sent(app, "203.0.113.8", "10.1.2.3")).toBe(401);
	// This address is not a trusted proxy.
	const direct = [];
	for (let i = 0; i < 3; i++) direct.push(await sent(app, `203.0.113.${20 + i}`, "11.0.0.1"));
	expect(direct).toEqual([401, 401, 429]);
});

type Answer = { status: number; connection: string | undefined; body: string };

function send(port: number, path: string, agent: Agent): Promise<Answer> {
	const { promise, resolve, reject } = Promise.withResolvers<Answer>();
	const isQuote = path === "/swap/quote";
	const sending = request(
		{
			host: "127.0.0.1",
			port,
			path,
			agent,
			method: isQuote ? "POST" : "GET",
			headers: { "x-api-key": key, ...(isQuote && { "content-type": "application/json" }) },
		},
		(response: IncomingMessage) => {
			let body = "";
			response.on("data", (chunk) => {
				body += chunk;
			});
			response.on("end", () =>
				resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, body }),
			);
		},
	);
	sending.on("error", reject);
	sending.end(isQuote ? "{}" : undefined);
	return promise;
}

test("a stop fails no request on kept-alive connections, no held calls and no new requests", async () => {
	const stopping = new AbortController();
	const app = start({ stopping: stopping.signal });
	await app.listen({ host: "127.0.0.1", port: 0 });
	const { port } = app.server.address() as AddressInfo;
	const agent = new Agent({ keepAlive: true, maxSockets: 200 });
	const held = Array.from({ length: 50 }, () => send(port, "/held", agent));

	let isTold = false;
	const counts = { before: 0, after: 0, closing: 0 };
	const failures: unknown[] = [];
	const askForEver = async () => {
		while (!isTold) {
			try {
				const { status, connection } = await send(port, "/swap/quote", agent);
				expect(status).toBe(200);
				if (!stopping.signal.aborted) counts.before++;
				else counts.after++;
				if (connection === "close") counts.closing++;
			} catch (error) {
				failures.push(error);
				return;
			}
		}
	};
	const asking = Array.from({ length: 10 }, askForEver);
	await expect.poll(() => counts.before, { timeout: 10_000 }).toBeGreaterThan(100);
	stopping.abort();
	await expect.poll(() => counts.closing, { timeout: 10_000 }).toBeGreaterThan(100);
	// By now a load balancer has read that the process is stopping.
	isTold = true;
	await Promise.all(asking);
	const closed = app.close();
	const answers = await Promise.all(held);
	await closed;
	expect(failures).toEqual([]);
	// An answer already on its way when the process began to stop may still keep its connection.
	expect(counts.closing).toBeGreaterThanOrEqual(counts.after - 10);
	expect(answers).toEqual(
		Array(50).fill({ status: 200, connection: "close", body: JSON.stringify({ status: "as it is" }) }),
	);
	await expect(send(port, "/health", agent)).rejects.toMatchObject({ code: "ECONNREFUSED" });
	agent.destroy();
});

test("silent and idle connections do not keep the server from closing", async () => {
	const app = start();
	await app.listen({ host: "127.0.0.1", port: 0 });
	const { port } = app.server.address() as AddressInfo;
	const agent = new Agent({ keepAlive: true });
	await send(port, "/health", agent);
	const silent = connect(port, "127.0.0.1");
	await once(silent, "connect");
	await sleep(50);
	const ended = once(silent, "close");
	const started = performance.now();
	await app.close();
	await ended;
	expect(performance.now() - started).toBeLessThan(10_000);
	agent.destroy();
});
