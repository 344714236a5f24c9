import { randomUUID } from "node:crypto";
import { SwapError } from "@geoswap/protocol";
import {
	type FastifyBaseLogger,
	type FastifyInstance,
	type FastifyReply,
	type FastifyRequest,
	fastify,
	LogController,
} from "fastify";
import type { Account, ApiKeys } from "../api-key/api-keys.ts";
import type { RateLimits, RateState } from "../api-key/rate-limits.ts";
import type { Log } from "../log.ts";
import { cleanUrl } from "./clean-url.ts";
import { answerCors } from "./cors.ts";
import { errorAnswer, rawErrorAnswer } from "./error-answer.ts";
import { parseBody } from "./parse-body.ts";
import type { Route } from "./route.ts";

const bodyLimitBytes = 32 * 1024;
/** Our own delay counts as well: a process that is busy must not call a request late that has long arrived. */
const receiveTimeoutMs = 60_000;

/**
 * The HTTP server of a list of routes. Its checks come in a fixed order: route, key, rate, media type and size, JSON.
 * `close` stops accepting, lets those who hold a call answer now, and waits for what is under way.
 */
export function createApp({
	routes,
	apiKeys,
	rateLimits,
	log,
	corsOrigins = [],
}: {
	routes: readonly Route[];
	apiKeys: ApiKeys;
	rateLimits: RateLimits;
	log: Log;
	corsOrigins?: readonly string[];
}): FastifyInstance {
	const app = fastify({
		loggerInstance: log as FastifyBaseLogger,
		logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
		genReqId: () => randomUUID(),
		bodyLimit: bodyLimitBytes,
		requestTimeout: receiveTimeoutMs,
		rewriteUrl: (request) => cleanUrl(request.url ?? "/"),
		// A request's line is limited already; a long parameter is just one that names nothing.
		routerOptions: { maxParamLength: 64 * 1024 },
		// Its own answers have another body than ours: what still arrives while closing is served.
		return503OnClosing: false,
		http: { requireHostHeader: false, headersTimeout: receiveTimeoutMs },
		clientErrorHandler: (error, socket) => {
			if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
			socket.end(rawErrorAnswer(error, { requestId: randomUUID() }));
		},
	});
	app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

	app.removeAllContentTypeParsers();
	// Parsed later: an error of a parser closes the connection.
	app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_, body, done) => done(null, body));

	const accounts = new WeakMap<FastifyRequest, Account>();
	const operations = new Map(routes.map((route) => [`${route.method} ${route.path}`, route.operation]));
	const holds = new Set<AbortController>();
	let isClosing = false;

	async function authenticate({ headers, ip }: FastifyRequest, reply: FastifyReply): Promise<Account> {
		const key = headers["x-api-key"];
		try {
			return await apiKeys.authenticate(typeof key === "string" ? key : undefined);
		} catch (error) {
			if (!(error instanceof SwapError) || error.code !== "UNAUTHORIZED") throw error;
			const state = await rateLimits.takeForAddress(ip);
			if (!state.isAllowed) reply.headers(rateHeaders(state));
			refuseAbove(state);
			throw error;
		}
	}

	app.addHook("onRequest", async (request, reply) => {
		reply.header("x-request-id", request.id);
		if (answerCors(request, reply, { origins: corsOrigins })) return reply.send();
		// Here and not in a handler: that would run after the body was parsed.
		if (request.is404) throw noRoute(routes, request);
		const operation = operations.get(`${methodOf(request)} ${request.routeOptions.url}`);
		if (operation === undefined) return;
		const account = await authenticate(request, reply);
		accounts.set(request, account);
		const state = await rateLimits.takeForKey({
			keyId: account.keyId,
			operation,
			perSecond: account.limits.rates[operation],
		});
		reply.headers(rateHeaders(state));
		refuseAbove(state);
		// What is empty is of no type: that is what is wrong with it, not the type it names.
		if (hasNoBody(request)) delete request.raw.headers["content-type"];
	});

	for (const route of routes) {
		app.route({
			method: route.method,
			url: route.path,
			handler: async (request, reply) => {
				const hold = new AbortController();
				// A caller who left while its key was looked up says so no second time.
				if (isClosing || reply.raw.destroyed) hold.abort();
				else {
					holds.add(hold);
					reply.raw.once("close", () => {
						holds.delete(hold);
						hold.abort();
					});
				}
				const bare = {
					body: route.method === "POST" ? parseBody(request.body) : undefined,
					query: request.query as Record<string, unknown>,
					params: request.params as Record<string, string>,
					requestId: request.id,
					log: request.log as Log,
					signal: hold.signal,
				};
				const account = accounts.get(request);
				const body =
					route.operation === undefined
						? await route.handle(bare)
						: await route.handle({ ...bare, account: account ?? unreachable() });
				if (route.contentType) reply.type(route.contentType);
				return reply.send(body);
			},
		});
	}

	app.setErrorHandler((error, request, reply) => {
		const { status, headers, body } = errorAnswer(error, { requestId: request.id });
		const context = { method: request.method, path: request.routeOptions.url, code: body.code };
		if (status >= 500) request.log.error({ ...context, err: error }, "request failed");
		else request.log.debug(context, "request refused");
		return reply.code(status).headers(headers).send(body);
	});
	app.addHook("preClose", async () => {
		isClosing = true;
		for (const hold of holds) hold.abort();
	});
	return app;
}

/** A HEAD is a GET whose body is not sent. */
function methodOf({ method }: FastifyRequest): string {
	return method === "HEAD" ? "GET" : method;
}

function hasNoBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

function noRoute(routes: readonly Route[], { url }: FastifyRequest): SwapError {
	const segments = url.replace(/\?.*$/, "").split("/");
	const allow = routes
		.filter(({ path }) => {
			const pattern = path.split("/");
			return (
				pattern.length === segments.length &&
				pattern.every((part, i) => (part.startsWith(":") ? segments[i] !== "" : part === segments[i]))
			);
		})
		.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
	return allow.length > 0
		? new SwapError("METHOD_NOT_ALLOWED", { allow })
		: new SwapError("NOT_FOUND", undefined);
}

function rateHeaders({ limit, remaining, resetSeconds }: RateState): Record<string, string> {
	return {
		"ratelimit-limit": String(limit),
		"ratelimit-remaining": String(remaining),
		"ratelimit-reset": String(resetSeconds),
	};
}

function refuseAbove({ isAllowed, resetSeconds }: RateState): void {
	if (!isAllowed) throw new SwapError("RATE_LIMITED", { reason: "rate", retryAfterSeconds: resetSeconds });
}

function unreachable(): never {
	throw new Error("a route that needs a key was reached without one");
}
